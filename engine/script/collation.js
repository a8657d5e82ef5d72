// String.prototype.localeCompare, for which the engine compares code units alone. After Unicode's root collation, as far as
// letters, digits and the punctuation of ASCII go: by the letters whatever their case and accents, then by the accents, then
// lower case before upper. Languages have no orders of their own here.
(function () {
  'use strict';

  const punctuation = '_-,;:!?.\'"()[]{}@*/\\&#%`^+<=>|~$';
  const expansions = { 'ß': 'ss', 'æ': 'ae', 'œ': 'oe', 'ø': 'o', 'đ': 'd', 'ł': 'l', 'ħ': 'h', 'þ': 'th', 'ı': 'i' };
  const isMark = /\p{M}/u;
  const commonMarks = '\u0301\u0300\u0306\u0302\u030c\u030a\u0308\u030b\u0303\u0307';
  const isLetter = /\p{L}/u;
  const isSpace = /\s/;

  // What comes before what: spaces, punctuation, other signs, digits, letters.
  function weightOf(c) {
    if (isSpace.test(c)) return '\0' + c;
    const place = punctuation.indexOf(c);
    if (place >= 0) return '\x01' + String.fromCharCode(place);
    if (c >= '0' && c <= '9') return '\x03' + c;
    return (isLetter.test(c) ? '\x04' : '\x02') + c;
  }

  // The keys by which a text is held against another, the most important one first.
  function keysOf(text, isNumeric) {
    let letters = '', accents = '', cases = '';
    // A number counts by its length, then by its digits.
    const parts = isNumeric ? text.normalize('NFD').match(/[0-9]+|[^0-9]/gu) ?? [] : text.normalize('NFD');
    for (const part of parts) {
      if (isMark.test(part)) {
        const place = commonMarks.indexOf(part);
        accents += place >= 0 ? String.fromCharCode(place + 1) : part;
        continue;
      }
      const lower = part.toLowerCase();
      const expanded = expansions[lower] ?? lower;
      if (isNumeric && part >= '0' && part <= '9~') {
        const digits = part.replace(/^0+(?=[0-9])/, '');
        letters += '\x03' + String.fromCodePoint(digits.length) + digits;
      } else {
        for (const c of expanded) letters += weightOf(c);
      }
      accents += expanded === lower ? '\0' : '\0' + lower;
      cases += lower === part ? '\0' : '\x01';
    }
    return [letters, accents, cases];
  }

  const compare = (a, b) => (a < b ? -1 : a > b ? 1 : 0);
  // Which of the keys count.
  const sensitivities = { base: [true, false, false], accent: [true, true, false], case: [true, false, true], variant: [true, true, true] };

  Object.defineProperty(String.prototype, 'localeCompare', {
    value: { localeCompare(that, _, options) {
      if (this === null || this === undefined) throw new TypeError('localeCompare was called on null or undefined');
      const mine = String(this), others = String(that);
      const counts = sensitivities[options?.sensitivity ?? 'variant'];
      if (counts === undefined) throw new RangeError('sensitivity is base, accent, case or variant');
      if (mine === others) return 0;
      const isNumeric = options?.numeric === true;
      const left = keysOf(mine, isNumeric), right = keysOf(others, isNumeric);
      for (let i = 0; i < counts.length; i++) {
        const order = counts[i] ? compare(left[i], right[i]) : 0;
        if (order !== 0) return order;
      }
      return 0;
    } }.localeCompare, writable: true, configurable: true, enumerable: false,
  });
})();
