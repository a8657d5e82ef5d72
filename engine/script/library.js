// The server-side API as scripts see it (docs/scripts.md). Runs once, when the engine boots; `host` is the only way out
// of the sandbox, `numbers` says which number stands for which of its functions. Nothing here guards the database: the
// host checks every call again, whatever a script does to this library or to the prototypes that it uses.
(function (host, numbers) {
  'use strict';

  const { parse, stringify } = JSON;
  const { accept, collection: checkLink, read, create, upsert, replace, patch, remove, feed: readFeed, log: print, random, abort } = numbers;
  const global = globalThis;

  function failure(number, message) {
    const error = new Error(message);
    error.number = number;
    error.body = message;
    return error;
  }

  // What the service says of an error. Scripts look for it in the message: it is the JSON text of {Errors: [...]} there.
  // What Quire has to say of it comes second, and alone in the body.
  const serviceTexts = {
    404: 'Resource Not Found',
    409: 'Resource with specified id or name already exists',
    412: 'One of the specified pre-condition is not met',
    413: 'Request size is too large',
    449: 'Conflicting request to resource has been attempted. Retry to avoid conflicts.',
  };
  function withServiceText(error) {
    const text = serviceTexts[error.number];
    if (text !== undefined) error.message = stringify({ Errors: [text, error.body] });
    return error;
  }
  const plainMessage = ({ message, body }) => (typeof body === 'string' && message.startsWith('{"Errors":[') ? body : message);

  // ---- What belongs to one run

  // Made once: every run begins with the memory as it is now.
  const theRun = { kind: '', operation: '', selfLink: '', altLink: '', mostResponse: 0, request: { text: undefined, value: undefined }, response: { text: undefined, value: undefined } };
  let run = null; // that of a procedure or trigger
  const callbacks = []; // that wait for their turn: of each the function, then its three arguments
  let next = 0;
  // The last callback and what it was given: they go when the next one's turn has come, and after the last with all of the run.
  let called = null;
  let given = null;
  let info = null; // what a callback gets beside what came of the last work

  function needRun() {
    if (run === null) throw failure(400, 'getContext() is for procedures and triggers; a function has its arguments alone');
    return run;
  }

  function toText(value, what) {
    const text = stringify(value);
    if (text === undefined) throw failure(400, what + ' is no JSON value');
    return text;
  }

  // ---- Request and response

  // A body is the text that the host gave, or the value that the script set, which the script may go on to change: what it
  // is in the end is sent, as in the service. It is made text once, however often it is set.
  const valueOf = ({ text, value }) => (text !== undefined ? parse(text) : value === undefined ? '' : value);
  function setValueOf(message, value) {
    message.text = undefined;
    message.value = value;
  }

  // What `+` makes of the two, as in the service, where a body that nobody has set is ''. After null the value is the body.
  function appended(message, value) {
    const before = valueOf(message);
    return before === null ? value : before + value;
  }

  // getValue, setValue and appendValue name what other calls are for: 'Body' is that of getBody, setBody and appendBody.
  function withValues(message) {
    const isThere = (verb, name) => name !== 'Value' && typeof message[verb + name] === 'function';
    const writer = (verb, name) => {
      needRun();
      if (isThere(verb, name)) return message[verb + name];
      if (isThere('get', name)) throw failure(403, `'${name}' cannot be changed`);
      throw failure(400, `there is no '${name}' to change, and none can be added`);
    };
    message.getValue = (name) => needRun() && (isThere('get', name) ? message['get' + name]() : undefined);
    message.setValue = (name, value) => writer('set', name)(value);
    message.appendValue = (name, value) => writer('append', name)(value);
    return message;
  }

  const request = withValues({
    getBody: () => valueOf(needRun().request),
    setBody(value) {
      if (needRun().kind === 'post') throw failure(400, 'a post-trigger cannot change the request');
      if (value === undefined || typeof value === 'function' || typeof value === 'symbol')
        throw failure(400, 'the body of the request is no JSON value');
      setValueOf(run.request, value);
    },
    appendBody(value) { request.setBody(appended(needRun().request, value)); },
    getOperationType: () => needRun().operation,
  });

  function needResponse() {
    if (needRun().kind === 'pre') throw failure(400, 'a pre-trigger has no response yet; change the request instead');
    return run.response;
  }

  const response = withValues({
    getBody: () => valueOf(needResponse()),
    // Scripts fill a response with text until there is no more room in it, so that is for them to catch. What else is too
    // long is found when it is sent.
    setBody(value) {
      const message = needResponse();
      if (typeof value === 'string' && value.length > run.mostResponse)
        throw failure(413, `the response would have more than ${run.mostResponse} bytes (PRAGMA script_result)`);
      setValueOf(message, value);
    },
    appendBody(value) { response.setBody(appended(needResponse(), value)); },
    getResourceQuotaCurrentUsage: () => needResponse() && quota(),
    getMaxResourceQuota: () => needResponse() && quota(),
  });
  const quota = () => 'documentsCount=-1;documentsSize=0;collectionSize=0;';

  // ---- Calls that work on items

  // The options may be left out: then a callback stands in their place.
  const noOptions = Object.freeze({});
  function optionsOf(options) {
    if (options === undefined || options === null || typeof options === 'function') return noOptions;
    if (typeof options !== 'object') throw failure(400, 'options must be an object');
    return options;
  }
  function callbackOf(options, callback) {
    if (typeof options === 'function') return options;
    if (callback === undefined || callback === null) return undefined;
    if (typeof callback !== 'function') throw failure(400, 'the callback must be a function');
    return callback;
  }

  // Does `work` now, and has the callback called when its turn has come; the work is told whether anybody wants what it gives. False if the
  // host accepts no more. An error goes to the callback, or, without one, to the caller.
  function perform(work, first, second, options, callback) {
    if (run === null) needRun();
    if (!host(accept)) return false;
    if (callback === undefined) {
      work(first, second, options, false);
      return true;
    }
    let error;
    let resource;
    try {
      resource = work(first, second, options, true);
    } catch (thrown) {
      // What a function of the script's own throws within filter() and its like is for the callback as well.
      const number = thrown?.number;
      if (number === undefined && work !== evaluate) throw thrown;
      error = number === undefined ? thrown ?? failure(400, String(thrown)) : withServiceText(thrown);
      info = { statusCode: number ?? 400 };
    }
    const end = callbacks.length;
    callbacks[end] = callback;
    callbacks[end + 1] = error;
    callbacks[end + 2] = resource;
    callbacks[end + 3] = info;
    return true;
  }

  const answer = (statusCode) => ({ statusCode, currentCollectionSizeInMB: 0, maxCollectionSizeInMB: 0 });
  // Of an option: what is null or false is none, as in the service.
  const asText = (value) => (typeof value === 'string' ? value : value ? String(value) : '');

  const indexActions = ['default', 'include', 'exclude'];
  function checkIndexAction(options) {
    if (!options.indexAction) return;
    for (const action of indexActions) if (options.indexAction === action) return;
    throw failure(400, 'indexAction is default, include or exclude');
  }

  // A document is an object, or its JSON text.
  function documentOf(body) {
    let document = body;
    if (typeof body === 'string') {
      try {
        document = parse(body);
      } catch (thrown) {
        throw failure(400, 'the document is no JSON: ' + thrown.message);
      }
    }
    if (document === null || typeof document !== 'object') throw failure(400, 'the document must be an object');
    return document;
  }

  // What has an id is an object, and goes as it is: most do, and this call would be a tenth of a write's.
  // The host makes an id where there is none; one that is null, empty or 0 is none either.
  function newDocumentOf(body, options) {
    const document = documentOf(body);
    if (document.id || document.id === undefined || options.disableAutomaticIdGeneration === true) return document;
    const { id, ...others } = document;
    return others;
  }

  function checkCollection(link) {
    if (link !== run.selfLink) host(checkLink, link);
  }

  // Each gives the document, if it is wanted, and leaves in `info` what goes with it then.
  const works = {
    readDocument: (link, _, options) => {
      const document = host(read, link, asText(options.ifNoneMatch));
      info = answer(document === null ? 304 : 200);
      info.notModified = document === null;
      return document ?? undefined;
    },
    createDocument: (link, body, options, isWanted) => {
      if (options !== noOptions) checkIndexAction(options);
      checkCollection(link);
      const document = host(create, body?.id ? body : newDocumentOf(body, options), options.disableAutomaticIdGeneration === true, isWanted);
      if (isWanted) info = answer(201);
      return document;
    },
    upsertDocument: (link, body, options, isWanted) => {
      if (options !== noOptions) checkIndexAction(options);
      checkCollection(link);
      const made = host(upsert, body?.id ? body : newDocumentOf(body, options), options.disableAutomaticIdGeneration === true, isWanted, options === noOptions ? undefined : asText(options.etag));
      if (!isWanted) return undefined;
      info = answer(made[1] ? 201 : 200);
      return made[0];
    },
    replaceDocument: (link, body, options, isWanted) => {
      if (options !== noOptions) checkIndexAction(options);
      const document = host(replace, link, body?.id ? body : documentOf(body), options === noOptions ? undefined : asText(options.etag), isWanted);
      if (isWanted) info = answer(200);
      return document;
    },
    patchDocument: (link, operations, options, isWanted) => {
      if (options !== noOptions) checkIndexAction(options);
      if (operations === null || typeof operations !== 'object') throw failure(400, 'the patch must be an array of operations, or an object');
      const document = host(patch, link, operations, options === noOptions ? undefined : asText(options.etag), isWanted);
      if (isWanted) info = answer(200);
      return document;
    },
    // What goes with the document stands in its place, too: there the service has it.
    deleteDocument: (link, _, options) => {
      host(remove, link, asText(options.etag));
      info = answer(204);
      return info;
    },
    readDocuments: (link, _, options) => {
      checkCollection(link);
      return feed(undefined, options);
    },
    queryDocuments: (link, query, options) => {
      checkCollection(link);
      if (typeof query !== 'string' && (query === null || typeof query !== 'object' || typeof (query.query ?? query.filterQuery) !== 'string'))
        throw failure(400, 'a query is SQL, or {query: SQL, parameters: [{name, value}, ...]}');
      return feed(query, options);
    },
  };

  function feed(query, options) {
    const size = Number(options.pageSize) || 100;
    const page = host(readFeed, query, size > 0 ? Math.ceil(size) : -1, asText(options.continuation));
    info = answer(200);
    if (page[1] !== undefined) info.continuation = page[1];
    return page[0];
  }

  const collection = {
    getSelfLink: () => needRun().selfLink,
    getAltLink: () => needRun().altLink,
    get request() { return request; },
    get response() { return needResponse() && response; },
  };

  const isFeed = (name) => name === 'readDocuments' || name === 'queryDocuments';
  const takesLinkAlone = (name) => name === 'readDocument' || name === 'readDocuments' || name === 'deleteDocument';

  // Most writes have neither options nor a callback. They go to the host at once, which accepts the call as well; false if it does not.
  const toCollection = (write, call) => (link, body, options, callback) =>
    options === undefined && callback === undefined && run !== null && link === run.selfLink && typeof body === 'object' && body?.id
      ? host(write, body) : call(link, body, options, callback);
  const toDocument = (write, call) => (link, body, options, callback) =>
    options === undefined && callback === undefined && run !== null && typeof link === 'string' && typeof body === 'object' && body !== null
      ? host(write, link, body) : call(link, body, options, callback);

  for (const name in works) {
    const work = works[name];
    const call = (link, body, options, callback) => perform(work, typeof link === 'string' ? link : String(link), body,
      options === undefined ? noOptions : optionsOf(options),
      options === undefined && callback === undefined ? undefined : callbackOf(options, callback));
    collection[name] = takesLinkAlone(name) ? (link, options, callback) => call(link, undefined, options, callback) : call;
    // The same to be awaited: gives the document, of feeds {feed, options}.
    collection[name + 'Async'] = (link, ...rest) =>
      new Promise((resolve, reject) => {
        const [body, options] = takesLinkAlone(name) ? [undefined, rest[0]] : rest;
        const callback = (error, resource, info) => {
          if (error) reject(error);
          else resolve(isFeed(name) ? { feed: resource, options: info } : resource);
        };
        if (!perform(work, String(link), body, optionsOf(options), callback))
          reject(failure(429, name + ' was not accepted: the time or the operations of the script are used up'));
      });
  }
  for (const [name, write] of [['createDocument', create], ['upsertDocument', upsert]]) collection[name] = toCollection(write, collection[name]);
  for (const [name, write] of [['replaceDocument', replace], ['patchDocument', patch]]) collection[name] = toDocument(write, collection[name]);
  for (const verb of ['read', 'query', 'create', 'upsert', 'replace', 'delete'])
    for (const noun of verb === 'read' ? ['Attachment', 'Attachments'] : [verb === 'query' ? 'Attachments' : 'Attachment'])
      collection[verb + noun] = () => { throw failure(400, 'there are no attachments; keep what belongs to a document in it'); };

  // ---- The language-integrated query: collection.filter(...), collection.chain()....value()

  // Stages that give one result of each value, or none.
  const none = {};
  const singles = {
    filter: (predicate) => (x) => (predicate(x) ? x : none),
    map: (change) => (x) => change(x),
    pluck: (name) => (x) => (x === null || x === undefined ? undefined : x[name]),
  };
  const overAll = (single) => (list) => list.map((x) => single(x)).filter((x) => x !== none);

  const stages = {
    flatten: (isShallow) => (list) => list.flat(isShallow === true ? 1 : Infinity),
    sortBy: (key) => (list) => sorted(list, key, 1),
    sortByDescending: (key) => (list) => sorted(list, key, -1),
    unwind: (inner, result) => (list) => list.flatMap((x) =>
      (inner(x) ?? []).map((y) => (result === undefined ? y : result(x, y)))),
  };

  function sorted(list, key, direction) {
    const keyed = list.map((x) => ({ x, key: key(x) }));
    keyed.sort((a, b) => (a.key < b.key ? -direction : a.key > b.key ? direction : 0));
    return keyed.map((pair) => pair.x);
  }

  const stageNames = [...Object.keys(singles), ...Object.keys(stages)];
  const sorts = ['sortBy', 'sortByDescending'];

  // A page of what the stages make of the documents of the partition.
  function evaluate(chain, _, options) {
    const size = Number(options.pageSize) || 100;
    const most = size > 0 ? Math.ceil(size) : Infinity;
    const continuation = options.continuation || undefined;
    const [list, next] = chain.every((stage) => stage.single !== undefined) ? pageOfItems(chain, continuation, most) : pageByCount(chain, continuation, most);
    info = answer(200);
    if (next !== undefined) info.continuation = next;
    return list;
  }

  // It ends behind a document, as a page of a query over items does and is continued in the same form: what it gave may be
  // deleted before the next is read.
  function pageOfItems(chain, continuation, most) {
    const list = [];
    let last; // the id of the document that gave the last of them
    do {
      const documents = feed(undefined, { pageSize: 100, continuation });
      continuation = info.continuation;
      for (const document of documents) {
        const { id } = document;
        let result = document;
        for (let i = 0; i < chain.length && result !== none; i++) result = chain[i].single(result);
        if (result === none || result === undefined) continue;
        if (list.length === most) return [list, 'i:' + last];
        list.push(result);
        last = id;
      }
    } while (continuation !== undefined);
    return [list];
  }

  // Of any other chain it is continued by the number of results before it. The documents go through the stages a page at a time
  // up to the first stage that has to see all, then the page of results that is asked for. Without such a stage it reads no
  // further than that.
  function pageByCount(chain, continuation, most) {
    const from = continuation === undefined ? 0 : Number(continuation);
    if (!(from >= 0)) throw failure(400, 'the continuation is none that a query gave');
    const to = from + most;
    let streamed = 0;
    while (streamed < chain.length && !chain[streamed].seesAll) streamed++;
    const results = collect(chain.slice(0, streamed), streamed === chain.length ? to : Infinity);
    const list = defined(through(chain.slice(streamed), results));
    return [list.slice(from, to), to < list.length ? String(to) : undefined];
  }

  const through = (chain, list) => chain.reduce((given, stage) => stage.run(given), list);
  const defined = (list) => list.filter((x) => x !== undefined);

  // What the stages make of the documents: all of it, or more than `enough`.
  function collect(chain, enough) {
    const list = [];
    let continuation;
    do {
      const documents = feed(undefined, { pageSize: 100, continuation });
      continuation = info.continuation;
      const results = through(chain, documents);
      for (const result of enough === Infinity ? results : defined(results)) list.push(result);
    } while (continuation !== undefined && list.length <= enough);
    return list;
  }

  function runChain(chain, options, callback) {
    const toBody = (error, resource) => {
      if (error) throw error;
      response.setBody(resource);
    };
    return { isAccepted: perform(evaluate, chain, undefined, optionsOf(options), callbackOf(options, callback) ?? toBody) };
  }

  // How many arguments of a stage come before its options and callback.
  function stageArguments(name, all) {
    if (name === 'flatten') return typeof all[0] === 'boolean' || (all[0] === undefined && all.length > 1) ? 1 : 0;
    // Of two functions alone the second is the callback.
    return name === 'unwind' && typeof all[1] === 'function' && all.length > 2 ? 2 : 1;
  }

  function makeStage(name, all) {
    const isWord = name === 'pluck';
    if (name !== 'flatten' && typeof all[0] !== (isWord ? 'string' : 'function'))
      throw failure(400, name + '() takes a ' + (isWord ? 'name' : 'function'));
    const single = singles[name]?.(...all);
    return { single, run: single === undefined ? stages[name](...all) : overAll(single), seesAll: sorts.includes(name) };
  }

  function makeChain(chain) {
    const link = { value: (options, callback) => runChain(chain, options, callback) };
    for (const name of stageNames)
      link[name] = (...all) => {
        const most = name === 'unwind' ? 2 : 1;
        if (all.slice(most).some((more) => more !== undefined))
          throw failure(400, `within chain() options and a callback belong to value(), not to ${name}()`);
        return makeChain([...chain, makeStage(name, all)]);
      };
    return link;
  }

  for (const name of stageNames)
    collection[name] = (...all) => {
      // The collection may stand before all else.
      if (all[0] === collection || (all[0] === undefined && all.length > 1 && name !== 'flatten')) all.shift();
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
      host(abort, reason === undefined ? 'no reason was given' : reason instanceof Error ? plainMessage(reason) : show(reason));
    },
  };

  const define = (name, value) => Object.defineProperty(global, name, { value, writable: true, configurable: true });
  define('getContext', () => needRun() && context);
  Object.defineProperty(global, '__', { get: () => needRun() && collection, configurable: true });
  const json = (value) => {
    try {
      return stringify(value);
    } catch {
      return undefined; // a BigInt, or what holds itself
    }
  };
  const show = (value) => (typeof value === 'string' ? value : value instanceof Error ? String(value) : json(value) ?? String(value));
  // `%s` and the like in a text that comes first take the values behind it in turn.
  const log = (first, ...rest) => {
    const filled = typeof first !== 'string' || rest.length === 0 ? show(first)
      : first.replace(/%[sdifjoO%]/g, (mark) => (mark === '%%' ? '%' : rest.length === 0 ? mark : show(rest.shift())));
    host(print, [filled, ...rest.map(show)].join(' '));
  };
  // The service's own has error, warning and info.
  define('console', { log, info: log, warn: log, warning: log, error: log, debug: log });
  // new Error(number, message), as the service has it: its samples throw so. The stack begins where the script called it.
  const { captureStackTrace } = Error;
  const numbered = new Proxy(Error, {
    construct: function construct(target, given, newTarget) {
      const hasNumber = typeof given[0] === 'number' && given.length > 1 && typeof given[1] !== 'object';
      const error = Reflect.construct(target, hasNumber ? [given[1]] : given, newTarget);
      if (hasNumber) error.number = given[0];
      captureStackTrace(error, construct);
      return error;
    },
    apply: (_, __, given) => new numbered(...given),
  });
  Error.prototype.constructor = numbered;
  define('Error', numbered);
  define('ErrorCodes', Object.freeze({
    BadRequest: 400, Forbidden: 403, NotFound: 404, Conflict: 409, PreconditionFailed: 412, RequestEntityTooLarge: 413,
    RetryWith: 449, InternalServerError: 500,
  }));
  Math.random = () => host(random);
  for (const name of ['SharedArrayBuffer', 'Atomics', 'WeakRef', 'FinalizationRegistry', 'performance', 'WebAssembly'])
    delete global[name];

  // An object gets its members one by one, and each time the engine looks for objects that have as many of the same names:
  // where there is none it makes what it knows of such objects anew. So one of each step is kept of those that calls make, take
  // and give.
  const kept = [{}];
  for (const names of ['op path value', 'query parameters', 'name value', 'statusCode currentCollectionSizeInMB maxCollectionSizeInMB continuation', 'pageSize continuation']) {
    const object = {};
    for (const name of names.split(' ')) {
      object[name] = 0;
      kept.push({ ...object });
    }
  }

  // The engine makes its functions when they are first asked for: these are there when a script begins.
  for (const object of [Object, Object.prototype, Array, Array.prototype, String.prototype, Number.prototype, Math, JSON])
    for (const name of Object.getOwnPropertyNames(object)) void object[name];

  const generators = [function* () {}, async function* () {}].map((each) => Object.getPrototypeOf(each));

  // ---- What the host calls

  return {
    // What a function is that is no script, though the engine calls it: a class throws then, and nothing of a generator runs.
    unfitKind(value) {
      if (generators.includes(Object.getPrototypeOf(value))) return 'a generator';
      return /^class\b/.test(Function.prototype.toString.call(value)) ? 'a class' : undefined;
    },
    start(kind, operation, requestBody, responseBody, selfLink, altLink, mostResponse) {
      run = theRun;
      run.kind = kind;
      run.operation = operation;
      run.selfLink = selfLink;
      run.altLink = altLink;
      run.mostResponse = mostResponse;
      run.request.text = requestBody;
      run.response.text = responseBody;
    },
    // Runs the callback whose turn it is; false where there is none.
    step() {
      if (next === callbacks.length) return false;
      const callback = callbacks[next];
      const error = callbacks[next + 1];
      const resource = callbacks[next + 2];
      const options = callbacks[next + 3];
      const end = next + 4;
      if (end === callbacks.length) callbacks.length = next = 0;
      else for (; next < end; next++) callbacks[next] = undefined;
      called = callback;
      given = resource;
      callback(error, resource, options);
      return true;
    },
    requestBody: () => run.request.text ?? toText(run.request.value, 'the body of the request'),
    responseBody: () => run.response.text ?? stringify(run.response.value),
    kept,
  };
})
