# cmake -DINPUT=file -DOUTPUT=header -DNAME=kName -P embed_text.cmake: the bytes of a file as a C++ array.
file(READ ${INPUT} bytes HEX)
string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${bytes}")
file(WRITE ${OUTPUT} "#pragma once\n\nnamespace quire::engine {\n\ninline constexpr unsigned char ${NAME}[] = {${bytes}};\n\n}\n")
