/** Classes of characters with names: \d, [:alpha:], \p{Greek}. */
import {
  ALL_CHARS,
  type CharRange,
  type CharSet,
  charSet,
  codesOf,
  complementOf,
  unionOf,
} from './char-set.ts';

const DIGITS: CharSet = charSet([[0x30, 0x39]]);
const UPPER: CharSet = charSet([[0x41, 0x5a]]);
const LOWER: CharSet = charSet([[0x61, 0x7a]]);
const LETTERS = unionOf(UPPER, LOWER);
const UNDERSCORE: CharSet = [[0x5f, 0x5f]];

/** \s is without the vertical tab, as in Perl of old. */
export const PERL_CLASSES: Readonly<Record<string, CharSet>> = {
  d: DIGITS,
  s: charSet([
    [0x09, 0x0a],
    [0x0c, 0x0d],
    [0x20, 0x20],
  ]),
  w: unionOf(DIGITS, LETTERS, UNDERSCORE),
};

export const POSIX_CLASSES: Readonly<Record<string, CharSet>> = {
  alnum: unionOf(DIGITS, LETTERS),
  alpha: LETTERS,
  ascii: [[0, 0x7f]],
  blank: charSet([
    [0x09, 0x09],
    [0x20, 0x20],
  ]),
  cntrl: charSet([
    [0, 0x1f],
    [0x7f, 0x7f],
  ]),
  digit: DIGITS,
  graph: [[0x21, 0x7e]],
  lower: LOWER,
  print: [[0x20, 0x7e]],
  punct: charSet([
    [0x21, 0x2f],
    [0x3a, 0x40],
    [0x5b, 0x60],
    [0x7b, 0x7e],
  ]),
  space: charSet([
    [0x09, 0x0d],
    [0x20, 0x20],
  ]),
  upper: UPPER,
  word: unionOf(DIGITS, LETTERS, UNDERSCORE),
  xdigit: charSet([
    [0x30, 0x39],
    [0x41, 0x46],
    [0x61, 0x66],
  ]),
};

/** General categories by the names that Go knows them by, without separators and in lower case. */
const CATEGORIES = new Map(
  [
    'C=other,Cc=control,Cc=cntrl,Cf=format,Cn=unassigned,Co=privateuse,Cs=surrogate',
    'L=letter,LC=casedletter,Ll=lowercaseletter,Lm=modifierletter,Lo=otherletter,Lt=titlecaseletter,Lu=uppercaseletter',
    'M=mark,M=combiningmark,Mc=spacingmark,Me=enclosingmark,Mn=nonspacingmark',
    'N=number,Nd=decimalnumber,Nd=digit,Nl=letternumber,No=othernumber',
    'P=punctuation,P=punct,Pc=connectorpunctuation,Pd=dashpunctuation,Pe=closepunctuation',
    'Pf=finalpunctuation,Pi=initialpunctuation,Po=otherpunctuation,Ps=openpunctuation',
    'S=symbol,Sc=currencysymbol,Sk=modifiersymbol,Sm=mathsymbol,So=othersymbol',
    'Z=separator,Zl=lineseparator,Zp=paragraphseparator,Zs=spaceseparator',
  ]
    .flatMap((line) => line.split(','))
    .map((entry) => entry.split('='))
    .flatMap(([short = '', long = '']) => [[short.toLowerCase(), short] as const, [long, short] as const]),
);

/** Scripts that Go finds by name: those of one word. */
const SCRIPTS = new Set(
  (
    'Adlam Ahom Arabic Armenian Avestan Balinese Bamum Batak Bengali Bhaiksuki Bopomofo Brahmi Braille Buginese Buhid Carian ' +
    'Chakma Cham Cherokee Chorasmian Common Coptic Cuneiform Cypriot Cyrillic Deseret Devanagari Dogra Duployan Elbasan ' +
    'Elymaic Ethiopic Georgian Glagolitic Gothic Grantha Greek Gujarati Gurmukhi Han Hangul Hanunoo Hatran Hebrew Hiragana ' +
    'Inherited Javanese Kaithi Kannada Katakana Kawi Kharoshthi Khmer Khojki Khudawadi Lao Latin Lepcha Limbu Lisu Lycian ' +
    'Lydian Mahajani Makasar Malayalam Mandaic Manichaean Marchen Medefaidrin Miao Modi Mongolian Mro Multani Myanmar ' +
    'Nabataean Nandinagari Newa Nko Nushu Ogham Oriya Osage Osmanya Palmyrene Phoenician Rejang Runic Samaritan Saurashtra ' +
    'Sharada Shavian Siddham Sinhala Sogdian Soyombo Sundanese Syriac Tagalog Tagbanwa Takri Tamil Tangsa Tangut Telugu ' +
    'Thaana Thai Tibetan Tifinagh Tirhuta Toto Ugaritic Vai Vithkuqi Wancho Yezidi Yi'
  ).split(' '),
);

const known = new Map<string, CharSet>();

/** Returns the class of Unicode. Undefined when Go has no class of that name. */
export function unicodeClass(name: string): CharSet | undefined {
  const plain = name.replace(/[_ -]/g, '').toLowerCase();
  if (plain === 'any') return ALL_CHARS;
  if (plain === 'ascii') return POSIX_CLASSES['ascii'];
  if (plain === 'assigned') return complementOf(setOf('Cn'));
  const category = CATEGORIES.get(plain);
  if (category !== undefined) return setOf(category);
  const script = plain.charAt(0).toUpperCase() + plain.slice(1);
  return SCRIPTS.has(script) ? setOf(`Script=${script}`) : undefined;
}

function setOf(property: string): CharSet {
  const before = known.get(property);
  if (before) return before;
  const found = rangesOf(new RegExp(`\\p{${property}}+`, 'gu'));
  known.set(property, found);
  return found;
}

const BLOCK = 0x1_00_00;
const MAX_CODE_POINT = 0x10_ff_ff;

/** Asks the JavaScript engine, whose tables may be of a newer Unicode version than Go's. */
function rangesOf(property: RegExp): CharSet {
  const found: CharRange[] = [];
  for (let start = 0; start <= MAX_CODE_POINT; start += BLOCK) {
    const codes = Array.from({ length: BLOCK }, (_, index) => start + index);
    const text = codes.map((code) => (isSurrogate(code) ? '' : String.fromCodePoint(code))).join('');
    for (const [run] of text.matchAll(property)) found.push(...consecutive(codesOf(run)));
  }
  return charSet(found);
}

/** No text contains half of a character. */
function isSurrogate(code: number): boolean {
  return code >= 0xd8_00 && code <= 0xdf_ff;
}

/** A run may jump over the surrogates. */
function consecutive(codes: readonly number[]): readonly CharRange[] {
  const [first = 0] = codes;
  const last = codes.at(-1) ?? first;
  if (last - first === codes.length - 1) return [[first, last]];
  return codes.map((code) => [code, code]);
}
