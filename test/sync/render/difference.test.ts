import { describe, expect, it } from 'vitest';
import { nondeterminismError } from '../../../src/sync/render/difference.ts';

function bytes(...lines: readonly object[]): Buffer {
  return Buffer.from(lines.map((line) => JSON.stringify(line)).join('\n'));
}

const settings = (data: object): object => ({
  object: { kind: 'ConfigMap', metadata: { name: 'settings' }, data },
  file: 'main.ts:5',
});

describe('nondeterminismError', () => {
  it('names the first object and field that differ, with its file', () => {
    const same = settings({ same: '1' });
    const error = nondeterminismError(
      bytes(same, settings({ list: ['a', 'b'] })),
      bytes(same, settings({ list: ['a', 'c'] })),
    );
    expect(error).toMatchObject({
      code: 'NotDeterministic',
      message: expect.stringContaining('ConfigMap settings, field data.list') as string,
      problems: [{ file: 'main.ts:5' }],
    });
  });

  it('reports results of different lengths', () => {
    const error = nondeterminismError(bytes(settings({}), { end: 1 }), bytes(settings({})));
    expect(error.message).toContain('differ in the result');
  });
});
