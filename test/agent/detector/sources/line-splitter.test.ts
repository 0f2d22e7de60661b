import { describe, expect, it } from 'vitest';
import { LineSplitter } from '../../../../src/agent/detector/sources/line-splitter.ts';

describe('line splitter', () => {
  it('joins what comes in parts, also inside of a character', () => {
    const splitter = new LineSplitter();
    const bytes = Buffer.from('é1\n2\n\n3');
    const lines = [...bytes].flatMap((byte) => splitter.add(Buffer.from([byte])));
    expect(lines).toEqual(['é1', '2', '']);
    expect(splitter.pendingBytes).toBe(1);
    expect(splitter.add(Buffer.from('\n'))).toEqual(['3']);
  });

  it('drops what has no line break for too long', () => {
    const splitter = new LineSplitter();
    splitter.add(Buffer.alloc(300_000, 'x'));
    expect(splitter.pendingBytes).toBe(0);
  });
});
