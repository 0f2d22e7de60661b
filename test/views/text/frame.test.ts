import { describe, expect, it } from 'vitest';
import { frameLines, plainLines } from '../../../src/views/text/frame.ts';

const SCREEN = { columns: 20, rows: 4 };

describe('frameLines', () => {
  it('begins with why it may be old, and counts the lines that do not fit', () => {
    expect(frameLines(plainLines('one\ntwo\nthree\nfour\n'), 'retrying', SCREEN, false)).toEqual([
      '! retrying',
      'one',
      'and 3 more lines',
    ]);
  });

  it('shows all lines where they fit, and cuts what is longer than the terminal', () => {
    expect(frameLines(plainLines('one\ntwo\nthree'), undefined, SCREEN, false)).toEqual([
      'one',
      'two',
      'three',
    ]);
    expect(frameLines(plainLines('x'.repeat(30)), undefined, SCREEN, false)).toEqual(['x'.repeat(20)]);
  });

  it('colors lines that have a tone, and only where colors are allowed', () => {
    const lines = [{ text: 'Proven', tone: 'good' }, { text: 'why' }] as const;
    expect(frameLines(lines, undefined, SCREEN, true)).toEqual(['\u001B[32mProven\u001B[39m', 'why']);
    expect(frameLines(lines, undefined, SCREEN, false)).toEqual(['Proven', 'why']);
  });
});
