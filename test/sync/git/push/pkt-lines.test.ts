import { describe, expect, it } from 'vitest';
import { FLUSH, pktLine, readPktLines } from '../../../../src/sync/git/push/pkt-lines.ts';

describe('readPktLines', () => {
  it('reads what pktLine wrote, without flush packets and line feeds', () => {
    const text = `${pktLine('unpack ok\n')}${pktLine('ok refs/heads/ü\n')}${FLUSH}${FLUSH}`;
    expect(text).toMatch(/^000eunpack ok\n/);
    expect(readPktLines(Buffer.from(text))).toEqual(['unpack ok', 'ok refs/heads/ü']);
    expect(readPktLines(Buffer.alloc(0))).toEqual([]);
  });

  it.each(['000', 'zzzz', '0001', '0003', '00010aaaaaaaaaaaa', '000eunpack', '<html>', '0005'])(
    'returns undefined for %j, which is not whole lines',
    (text) => {
      expect(readPktLines(Buffer.from(text))).toBeUndefined();
    },
  );
});
