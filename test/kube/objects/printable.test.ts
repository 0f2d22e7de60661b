import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parse, stringify } from 'yaml';
import {
  htmlText,
  markdownBlock,
  markdownCode,
  markdownText,
  printableLine,
  printableStream,
  printableText,
  printableYaml,
  wrapText,
} from '../../../src/kube/objects/printable.ts';
import { runs } from '../../support/sweep-size.ts';

const UNPRINTABLE = /[\p{Cc}\u2028\u2029\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/u;
const anyText = fc.string({ unit: 'binary', maxLength: 60 });
const json = fc.record({
  a: anyText,
  b: fc.constantFrom('\u009b31m', '\u202etxt', '\u001b]0;x\u0007', '\n'),
});

describe('printable texts', () => {
  it.each([
    ['plain – ünïcode 😀', 'plain – ünïcode 😀'],
    ['two\nlines', String.raw`two\nlines`],
    ['\u001b[31mred', String.raw`\u001b[31mred`],
    ['\u009b31mred', String.raw`\u009b31mred`],
    ['a\rb\tc', String.raw`a\u000db\u0009c`],
    ['\u202egpj.exe', String.raw`\u202egpj.exe`],
    ['a\u2028b', String.raw`a\u2028b`],
  ])('%j is printed in one line as %j', (text, expected) => {
    expect(printableLine(text)).toBe(expected);
  });

  it('hold no character that controls a terminal, whatever the text', () => {
    fc.assert(
      fc.property(anyText, (text) => {
        expect(printableLine(text)).not.toMatch(UNPRINTABLE);
        expect(printableText(text).replaceAll('\n', '')).not.toMatch(UNPRINTABLE);
        const stream = printableStream(text.replaceAll('\u001b[', '')).replaceAll(/[\n\t]/g, '');
        expect(stream).not.toMatch(/\p{Cc}/u);
      }),
      runs(500, 20_000),
    );
  });

  it('keep the meaning of JSON and YAML', () => {
    fc.assert(
      fc.property(json, (data) => {
        expect(JSON.parse(printableText(JSON.stringify(data, undefined, 2)))).toEqual(data);
        const yaml = stringify(data, { lineWidth: 0 });
        expect(parse(printableYaml(yaml))).toEqual(parse(yaml));
        expect(printableYaml(yaml)).not.toMatch(/[\u007f-\u009f]/);
      }),
      runs(500, 20_000),
    );
  });

  it('leave the colors, the progress line and the live view of this program', () => {
    const own = '\r\u001b[2K\u001b[2mrendering\u001b[22m\n\r\u001b[12A\u001b[Jnext\n';
    expect(printableStream(own)).toBe(own);
    expect(printableStream('\u001b[12A\u001b[J')).toBe(String.raw`\u001b[12A\u001b[J`);
    expect(printableStream('\u001b]0;title\u0007')).toBe(String.raw`\u001b]0;title\u0007`);
  });
});

describe('texts in Markdown', () => {
  it.each([
    ['a|b', String.raw`a\|b`],
    ['**bold** [x](y) `c`', String.raw`\*\*bold\*\* [x\](y) \`c\``],
    ['<b>&', '&lt;b&gt;&amp;'],
    ['a\nplan x', String.raw`a\\nplan x`],
  ])('%j is shown as text: %j', (text, expected) => {
    expect(markdownText(text)).toBe(expected);
  });

  it.each([
    ['@octocat', '@\u200boctocat'],
    ['owner/repo#12', 'owner/repo#\u200b12'],
    ['see https://evil.example.com', 'see https:\u200b//evil.example.com'],
    ['WWW.evil.example.com', 'WWW\u200b.evil.example.com'],
    ['mailto:a@b.example.com', 'mailto:a@\u200bb.example.com'],
    ['GH-12 !34 %5 $6', 'GH\u200b-12 !\u200b34 %\u200b5 $\u200b6'],
    ['100% of A & B!', '100% of A &amp; B!'],
  ])('%j notifies no person and is not a link: %j', (text, expected) => {
    expect(htmlText(text)).toBe(expected);
  });

  it('contain no mention, reference or link, whatever the text', () => {
    const piece = fc.constantFrom(
      '@',
      'a',
      '#',
      '1',
      '!',
      ':',
      '//',
      'http',
      'www',
      '.',
      'GH',
      '-',
      '&',
      '~',
      '"',
      '\\',
      '\n',
      'é',
    );
    const live = /@[\wé]|#\d|![\d]|~["\wé]|:\/\/|www\.|GH-\d/i;
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 12 }), (pieces) => {
        for (const shown of [markdownText(pieces.join('')), htmlText(pieces.join(''))]) {
          const rendered = shown.replaceAll(/\\([\\`*_|~\]])/g, '$1').replaceAll('&amp;', '&');
          expect(rendered).not.toMatch(live);
        }
      }),
      runs(500, 20_000),
    );
  });

  it('cannot end the code that they are in', () => {
    expect(markdownCode('a`b')).toBe('`` a`b ``');
    expect(markdownCode('plain')).toBe('`plain`');
    expect(markdownBlock(['```', 'a\n````'])).toEqual(['`````', '```', 'a\\n````', '`````']);
    expect(htmlText('</summary>\n')).toBe(String.raw`&lt;/summary&gt;\n`);
  });
});

describe('wrapText', () => {
  it.each([
    ['', 10, ['']],
    ['one two three', 7, ['one two', 'three']],
    ['exactly ten', 11, ['exactly ten']],
    ['abcdefghij', 4, ['abcd', 'efgh', 'ij']],
    ['a abcdefgh b', 4, ['a', 'abcd', 'efgh', 'b']],
  ])('breaks %j at %i', (text, width, lines) => {
    expect(wrapText(text, width)).toEqual(lines);
  });

  it('prints control characters instead of sending them', () => {
    expect(wrapText('a\u001B[2Jb\nc', 40)).toEqual([String.raw`a\u001b[2Jb\nc`]);
  });
});
