/** The output of a sandboxed process is untrusted: readResult accepts it only when it is complete and valid. */
import { describe, expect, it } from 'vitest';
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

function read(...lines: readonly (object | string)[]): Promise<RenderResult> {
  const texts = lines.map((entry) => (typeof entry === 'string' ? entry : JSON.stringify(entry)));
  return readResult(Buffer.from(texts.join('\n')));
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

  it('removes control characters from messages, and unknown codes', async () => {
    const problem = { message: 'a\u001b[2Jb', file: 'x', line: 3 };
    const error = await failureOf(read({ code: 'Invented', problem }, { end: 0 }));
    expect(error.code).toBe('Failed');
    expect(error.problems).toEqual([{ message: 'a [2Jb', file: 'x', line: 3 }]);
  });
});
