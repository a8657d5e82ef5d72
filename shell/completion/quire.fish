# Completion of the program quire for fish.
complete -c quire -l help -d 'Tell the options'
complete -c quire -l version -d 'Tell the versions'
complete -c quire -l read-only -d 'Open the file for reading only'
complete -c quire -l untrusted -d 'Check every page and item: for a file from elsewhere'
complete -c quire -l trust-scripts -d 'Run JavaScript that came with the file from elsewhere, too'
complete -c quire -l strict -d 'Take only what Azure Cosmos DB takes'
complete -c quire -l mode -x -a 'auto json array jsonl table csv tsv markdown vertical insert' -d 'How rows are shown'
complete -c quire -l durability -x -a 'full relaxed none' -d 'What a commit survives'
