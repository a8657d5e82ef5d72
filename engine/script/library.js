// The server-side API as scripts see it (docs/scripts.md). Runs once, when the engine boots; `host` is the only way out
// of the sandbox, `numbers` says which number stands for which of its functions. Nothing here guards the database: the
// host checks every call again, whatever a script does to this library or to the prototypes that it uses.
(function (host, numbers) {
  'use strict';

  const { parse, stringify } = JSON;
  const ask = (name, ...rest) => host(numbers[name], ...rest);
  const { accept, create, upsert, replace } = numbers; // asked for most often
  const global = globalThis;

  function failure(number, message) {
    const error = new Error(message);
    error.number = number;
    error.body = message;
    return error;
  }

  // ---- What belongs to one run

  let run = null; // {kind, operation, selfLink, altLink, request, response}
  let callbacks = []; // that wait for their turn
  let next = 0;

  function needRun() {
    if (run === null) throw failure(400, 'getContext() is for procedures and triggers; a function has its arguments alone');
    return run;
  }

  function later(callback, ...given) {
    callbacks[callbacks.length] = () => callback(...given);
  }

  function toText(value, what) {
    const text = stringify(value);
    if (text === undefined) throw failure(400, what + ' is no JSON value');
    return text;
  }

  // ---- Request and response

  const request = {
    getBody: () => (needRun().request.body === undefined ? '' : parse(run.request.body)),
    setBody(value) {
      if (needRun().kind === 'post') throw failure(400, 'a post-trigger cannot change the request');
      run.request.body = toText(value, 'the body of the request');
    },
    getValue: (name) => needRun().request.values[name],
    setValue: (name, value) => { needRun().request.values[name] = value; },
    getOperationType: () => needRun().operation,
  };

  function needResponse() {
    if (needRun().kind === 'pre') throw failure(400, 'a pre-trigger has no response yet; change the request instead');
    return run.response;
  }

  const response = {
    getBody: () => (needResponse().body === undefined ? '' : parse(run.response.body)),
    setBody(value) { needResponse().body = stringify(value); },
    appendBody(value) {
      const added = typeof value === 'string' ? value : stringify(value);
      const before = needResponse().body === undefined ? '' : parse(run.response.body);
      run.response.body = stringify((typeof before === 'string' ? before : stringify(before)) + added);
    },
    getValue: (name) => needResponse().values[name],
    setValue: (name, value) => { needResponse().values[name] = value; },
    getResourceQuotaCurrentUsage: () => needResponse() && quota(),
    getMaxResourceQuota: () => needResponse() && quota(),
  };
  const quota = () => 'documentsCount=-1;documentsSize=0;collectionSize=0;';

  // ---- Calls that work on items

  // Leaves out the options where a callback stands in their place.
  function callOptions(options, callback) {
    if (typeof options === 'function') return [{}, options];
    if (options !== undefined && options !== null && typeof options !== 'object')
      throw failure(400, 'options must be an object');
    if (callback !== undefined && callback !== null && typeof callback !== 'function')
      throw failure(400, 'the callback must be a function');
    return [options ?? {}, callback ?? undefined];
  }

  // Runs `work` now and the callback when its turn has come; the work is told whether anybody wants what it gives. An error goes to the callback, or, without one, to the
  // caller.
  function perform(work, callback) {
    needRun();
    if (!host(accept)) return false;
    if (callback === undefined) {
      work(false);
      return true;
    }
    let done;
    try {
      done = work(true);
    } catch (error) {
      if (error === null || typeof error !== 'object' || error.number === undefined) throw error;
      later(callback, error, undefined, { statusCode: error.number });
      return true;
    }
    later(callback, null, done.resource, done.options);
    return true;
  }

  const done = (resource, statusCode, more) => ({
    resource,
    options: { statusCode, currentCollectionSizeInMB: 0, maxCollectionSizeInMB: 0, ...more },
  });

  const indexActions = ['default', 'include', 'exclude'];
  function checkIndexAction(options) {
    if (options.indexAction === undefined) return;
    for (const action of indexActions) if (options.indexAction === action) return;
    throw failure(400, 'indexAction is default, include or exclude');
  }

  const checkBody = (body) => {
    if (body === null || typeof body !== 'object') throw failure(400, 'the document must be an object');
  };

  function checkCollection(link) {
    if (link !== run.selfLink) ask('collection', String(link));
  }

  const works = {
    readDocument: (link, options) => {
      const document = ask('read', String(link), options.ifNoneMatch === undefined ? '' : String(options.ifNoneMatch));
      return document === null ? done(undefined, 304, { notModified: true }) : done(document, 200, { notModified: false });
    },
    createDocument: (link, body, options, isWanted) => {
      checkIndexAction(options);
      checkBody(body);
      checkCollection(link);
      return done(host(create, body, options.disableAutomaticIdGeneration === true, isWanted), 201);
    },
    upsertDocument: (link, body, options, isWanted) => {
      checkIndexAction(options);
      checkBody(body);
      checkCollection(link);
      return done(host(upsert, body, options.disableAutomaticIdGeneration === true, isWanted), 200);
    },
    replaceDocument: (link, body, options, isWanted) => {
      checkIndexAction(options);
      const etag = options.etag === undefined ? '' : String(options.etag);
      checkBody(body);
      return done(host(replace, String(link), body, etag, isWanted), 200);
    },
    deleteDocument: (link, options) => {
      ask('remove', String(link), options.etag === undefined ? '' : String(options.etag));
      return done(undefined, 204);
    },
    readDocuments: (link, options) => {
      checkCollection(link);
      return feed('', options);
    },
    queryDocuments: (link, query, options) => {
      checkCollection(link);
      const isText = typeof query === 'string';
      if (!isText && (query === null || typeof query !== 'object' || typeof (query.query ?? query.filterQuery) !== 'string'))
        throw failure(400, 'a query is SQL, or {query: SQL, parameters: [{name, value}, ...]}');
      return feed(toText(isText ? { query } : query, 'the query'), options);
    },
  };

  function feed(query, options) {
    const size = options.pageSize === undefined ? 100 : Number(options.pageSize);
    const from = options.continuation === undefined || options.continuation === null ? '' : String(options.continuation);
    const page = ask('feed', query, size > 0 ? size : -1, from);
    return done(page.feed, 200, page.continuation === undefined ? {} : { continuation: page.continuation });
  }

  const collection = {
    getSelfLink: () => needRun().selfLink,
    getAltLink: () => needRun().altLink,
    get request() { return request; },
    get response() { return needResponse() && response; },
  };

  const isFeed = (name) => name === 'readDocuments' || name === 'queryDocuments';
  const arity = { readDocument: 1, readDocuments: 1, deleteDocument: 1 };

  for (const name in works) {
    const work = works[name];
    const given = arity[name] ?? 2;
    collection[name] = (...all) => {
      const [options, callback] = callOptions(all[given], all[given + 1]);
      return perform(given === 1 ? () => work(all[0], options) : (isWanted) => work(all[0], all[1], options, isWanted), callback);
    };
    // The same to be awaited: gives the document, of feeds {feed, options}.
    collection[name + 'Async'] = (...all) =>
      new Promise((resolve, reject) => {
        const [options] = callOptions(all[given]);
        const callback = (error, resource, info) => {
          if (error) reject(error);
          else resolve(isFeed(name) ? { feed: resource, options: info } : resource);
        };
        const isAccepted = perform(
          given === 1 ? () => work(all[0], options) : (isWanted) => work(all[0], all[1], options, isWanted), callback);
        if (!isAccepted) reject(failure(429, name + ' was not accepted: the time or the operations of the script are used up'));
      });
  }
  for (const verb of ['read', 'query', 'create', 'upsert', 'replace', 'delete'])
    for (const noun of verb === 'read' ? ['Attachment', 'Attachments'] : [verb === 'query' ? 'Attachments' : 'Attachment'])
      collection[verb + noun] = () => { throw failure(400, 'there are no attachments; keep what belongs to a document in it'); };

  // ---- The language-integrated query: collection.filter(...), collection.chain()....value()

  const stages = {
    filter: (predicate) => (list) => list.filter((x) => predicate(x) === true),
    map: (change) => (list) => list.map((x) => change(x)),
    pluck: (name) => (list) => list.map((x) => (x === null || x === undefined ? undefined : x[name])),
    flatten: (isShallow) => (list) => list.flat(isShallow === true ? 1 : Infinity),
    sortBy: (key) => (list) => sorted(list, key, 1),
    sortByDescending: (key) => (list) => sorted(list, key, -1),
    unwind: (inner, result) => (list) => list.flatMap((x) =>
      (inner(x) ?? []).map((y) => (result === undefined ? [x, y] : result(x, y)))),
  };

  function sorted(list, key, direction) {
    const keyed = list.map((x) => ({ x, key: key(x) }));
    keyed.sort((a, b) => (a.key < b.key ? -direction : a.key > b.key ? direction : 0));
    return keyed.map((pair) => pair.x);
  }

  const sorts = ['sortBy', 'sortByDescending'];

  // The documents of the partition through the stages, a page of documents at a time up to the first stage that has to
  // see all, then the page of results that is asked for. Without such a stage it reads no further than that.
  function evaluate(chain, options) {
    const from = options.continuation === undefined || options.continuation === null ? 0 : Number(options.continuation);
    if (!(from >= 0)) throw failure(400, 'the continuation is none that a query gave');
    const size = options.pageSize === undefined ? 100 : Number(options.pageSize);
    const to = size > 0 ? from + size : Infinity;
    let streamed = 0;
    while (streamed < chain.length && !chain[streamed].seesAll) streamed++;
    const results = collect(chain.slice(0, streamed), streamed === chain.length ? to : Infinity);
    const list = defined(through(chain.slice(streamed), results));
    return done(list.slice(from, to), 200, to < list.length ? { continuation: String(to) } : {});
  }

  const through = (chain, list) => chain.reduce((given, stage) => stage.run(given), list);
  const defined = (list) => list.filter((x) => x !== undefined);

  // What the stages make of the documents: all of it, or more than `enough`.
  function collect(chain, enough) {
    const list = [];
    let continuation;
    do {
      const page = feed('', { pageSize: 100, continuation });
      const results = through(chain, page.resource);
      for (const result of enough === Infinity ? results : defined(results)) list.push(result);
      continuation = page.options.continuation;
    } while (continuation !== undefined && list.length <= enough);
    return list;
  }

  function runChain(chain, options, callback) {
    const [given, then] = callOptions(options, callback);
    const toBody = (error, resource) => {
      if (error) throw error;
      response.setBody(resource);
    };
    return { isAccepted: perform(() => evaluate(chain, given), then ?? toBody) };
  }

  // How many arguments of a stage come before its options and callback.
  function stageArguments(name, all) {
    if (name === 'flatten') return typeof all[0] === 'boolean' ? 1 : 0;
    return name === 'unwind' && typeof all[1] === 'function' && typeof all[2] !== 'undefined' ? 2 : 1;
  }

  function makeStage(name, all) {
    const isWord = name === 'pluck';
    if (name !== 'flatten' && typeof all[0] !== (isWord ? 'string' : 'function'))
      throw failure(400, name + '() takes a ' + (isWord ? 'name' : 'function'));
    return { run: stages[name](...all), seesAll: sorts.includes(name) };
  }

  function makeChain(chain) {
    const link = { value: (options, callback) => runChain(chain, options, callback) };
    for (const name in stages) link[name] = (...all) => makeChain([...chain, makeStage(name, all)]);
    return link;
  }

  for (const name in stages)
    collection[name] = (...all) => {
      const count = stageArguments(name, all);
      return runChain([makeStage(name, all.slice(0, count))], all[count], all[count + 1]);
    };
  collection.chain = () => makeChain([]);
  collection.value = (options, callback) => runChain([], options, callback);

  // ---- The context

  const context = {
    getCollection: () => needRun() && collection,
    getRequest: () => needRun() && request,
    getResponse: () => needResponse() && response,
    abort(reason) {
      ask('abort', reason === undefined ? 'no reason was given' : reason instanceof Error ? reason.message : String(reason));
    },
  };

  const define = (name, value) => Object.defineProperty(global, name, { value, writable: true, configurable: true });
  define('getContext', () => needRun() && context);
  Object.defineProperty(global, '__', { get: () => needRun() && collection, configurable: true });
  const show = (value) => (typeof value === 'string' ? value : value instanceof Error ? String(value) : stringify(value) ?? String(value));
  const log = (...values) => ask('log', values.map(show).join(' '));
  define('console', { log, info: log, warn: log, error: log, debug: log });
  Math.random = () => ask('random');
  for (const name of ['SharedArrayBuffer', 'Atomics', 'WeakRef', 'FinalizationRegistry', 'performance', 'WebAssembly'])
    delete global[name];

  // ---- What the host calls

  return {
    start(settings) {
      run = {
        kind: settings.kind,
        operation: settings.operation,
        selfLink: settings.selfLink,
        altLink: settings.altLink,
        request: { body: settings.request, values: {} },
        response: { body: settings.response, values: {} },
      };
      callbacks = [];
      next = 0;
    },
    // Runs the callback whose turn it is; false where there is none.
    step() {
      if (next === callbacks.length) return false;
      const callback = callbacks[next];
      callbacks[next++] = undefined;
      callback();
      return true;
    },
    requestBody: () => run.request.body,
    responseBody: () => run.response.body,
  };
})
