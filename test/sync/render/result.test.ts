/** The output of a sandboxed process is untrusted: readResult accepts it only when it is complete and valid. */
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { type RenderResult, readResult } from '../../../src/sync/render/result.ts';
import { failureOf, outlineOf } from './results.ts';

const object = (name: string, more: object = {}): object => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name },
  ...more,
});
const line = (name: string, more: object = {}): object => ({
  object: object(name),
  target: 'test',
  unit: 'web',
  file: 'main.ts:5',
  ...more,
});

async function read(...lines: readonly (object | string)[]): Promise<RenderResult> {
  const texts = lines.map((entry) => (typeof entry === 'string' ? entry : JSON.stringify(entry)));
  return readResult(Buffer.from(texts.join('\n')));
}

/** A line whose data has that many levels. */
function nestedLine(levels: number): string {
  const text = JSON.stringify(line('a', { object: object('a', { data: 'HERE' }) }));
  return text.replace('"HERE"', `${'{"a":'.repeat(levels)}1${'}'.repeat(levels)}`);
}

describe('readResult', () => {
  it('sorts objects by identity, so that their order does not change a digest', async () => {
    const one = await read(line('b'), line('a'), { end: 2 });
    const other = await read(line('a'), line('b'), { end: 2 });
    expect(outlineOf(one)).toEqual([
      'test/web: ConfigMap/a [main.ts:5]',
      'test/web: ConfigMap/b [main.ts:5]',
    ]);
    expect(one).toEqual(other);
  });

  it.each<[name: string, lines: readonly (object | string)[]]>([
    ['without an end line', [line('a')]],
    ['with fewer objects than the end line counts', [line('a'), { end: 2 }]],
    ['with more objects than the end line counts', [line('a'), { end: 0 }]],
    ['with a line after the end', [line('a'), { end: 1 }, line('b')]],
    ['with a line that is not JSON', [line('a'), 'garbage', { end: 1 }]],
    ['with a line that is not an object', ['[]', { end: 0 }]],
    ['that is empty', []],
  ])('refuses a result %s', async (_, lines) => {
    expect(await failureOf(read(...lines))).toMatchObject({ name: 'RenderError', code: 'Failed' });
  });

  it.each<[name: string, wrong: object, message: string]>([
    ['a scalar', { object: 1 }, 'expected an object'],
    ['no kind', { object: { ...object('a'), kind: '' } }, 'kind is missing'],
    ['no name', { object: { ...object('a'), metadata: {} } }, 'metadata.name of this ConfigMap is missing'],
    ['an invalid cluster name', { target: 'Not_A_Name' }, 'invalid cluster name "Not_A_Name"'],
    ['no unit', { unit: undefined }, 'invalid unit name'],
    ['an unsafe integer', { object: object('a', { data: { size: 2 ** 60 } }) }, 'data.size is an integer'],
  ])('refuses an object with %s', async (_, wrong, message) => {
    const error = await failureOf(read(line('a', wrong), { end: 1 }));
    expect(error.code).toBe('BadObject');
    expect(error.message).toContain(message);
    expect(error.problems[0]?.file).toBe('main.ts:5');
  });

  it('SAF-20 refuses an object that is nested too deep for what walks it later, whatever it holds', async () => {
    expect((await read(nestedLine(190), { end: 1 })).targets).toHaveLength(1);
    for (const levels of [220, 100_000]) {
      const error = await failureOf(read(nestedLine(levels), { end: 1 }));
      expect(error).toMatchObject({
        code: 'BadObject',
        message: expect.stringContaining('ConfigMap a: nested more than 200 levels deep') as string,
      });
    }
  });

  it('refuses an object that is larger than API servers accept, without parsing it', async () => {
    const parse = vi.spyOn(JSON, 'parse');
    onTestFinished(() => parse.mockRestore());
    const error = await failureOf(
      read(line('large', { object: object('large', { data: 'x'.repeat(4e6) }) }), { end: 0 }),
    );
    expect(error).toMatchObject({ code: 'BadObject', message: expect.stringContaining('large') as string });
    expect(parse.mock.calls.map(([text]) => text.length < 100)).toEqual([true]);
  });

  it.each([
    ['objects', 100_001, () => JSON.stringify(line('a'))],
    ['problems', 10_001, () => JSON.stringify({ code: 'Failed', problem: { message: 'x' } })],
    [
      'fields and items',
      40,
      () =>
        JSON.stringify(
          line('a', { object: object('a', { data: Array.from({ length: 130_000 }, () => 1) }) }),
        ),
    ],
  ])('refuses a result with too many %s', async (what, count, create) => {
    const text = create();
    const error = await failureOf(read(...Array.from({ length: count }, () => text)));
    expect(error).toMatchObject({ code: 'TooMuchOutput', message: expect.stringContaining(what) as string });
  });

  it('escapes control characters of messages, and replaces unknown codes', async () => {
    const problem = { message: 'a\u001b[2Jb', file: 'x', line: 3 };
    const error = await failureOf(read({ code: 'Invented', problem }, { end: 0 }));
    expect(error.code).toBe('Failed');
    expect(error.problems).toEqual([{ message: String.raw`a\u001b[2Jb`, file: 'x', line: 3 }]);
  });

  it('SAF-5 keeps the first of very many warnings: sync logs each', async () => {
    const lines = Array.from({ length: 50_000 }, (_, index) => ({ warning: `w${index}` }));
    const { warnings } = await read(...lines, line('a'), { end: 1 });
    expect(warnings).toHaveLength(101);
    expect(warnings.slice(-2)).toEqual(['w99', 'more than 100 warnings: the others are left out']);
  });
});
