import { describe, expect, it } from 'vitest';
import {
  formatLocation,
  isRenderError,
  RenderError,
  type RenderProblem,
} from '../../../src/sync/render/errors.ts';

describe('formatLocation', () => {
  it.each([
    [{}, undefined],
    [{ file: 'fleet/main.ts' }, 'fleet/main.ts'],
    [{ file: 'fleet/main.ts', line: 12 }, 'fleet/main.ts:12'],
    [{ file: 'fleet/main.ts', line: 12, construct: 'test/web' }, 'fleet/main.ts:12 (test/web)'],
    [{ construct: 'test/web' }, 'test/web'],
    [{ line: 12 }, undefined],
  ])('describes %j as %s', (parts, expected) => {
    expect(formatLocation({ message: 'failed', ...parts })).toBe(expected);
  });
});

function at(line: number, construct: string, message = 'a'): RenderProblem {
  return { message, file: 'fleet/main.ts', line, construct };
}

function linesOf(...problems: readonly RenderProblem[]): readonly string[] {
  return new RenderError('BadObject', problems).message.split('\n');
}

describe('RenderError', () => {
  it('lists each problem with its location, and where the first one is', () => {
    const error = new RenderError(
      'BadObject',
      [{ message: 'a', file: 'x.yaml', line: 3 }, { message: 'b' }],
      'fix it',
    );
    expect(error.message).toBe('a [x.yaml:3]\nb');
    expect(error).toMatchObject({ code: 'BadObject', where: 'x.yaml:3', hint: 'fix it' });
  });

  it('lists a problem of many clusters once, with the clusters, and others by themselves', () => {
    const three = ['test', 'pre', 'prod'].flatMap((name) => [
      at(16, `${name}/rules/hang`),
      at(16, `${name}/rules/hang`, 'b'),
    ]);
    expect(linesOf(...three)).toEqual([
      'a [fleet/main.ts:16 (rules/hang in test, pre, prod)]',
      'b [fleet/main.ts:16 (rules/hang in test, pre, prod)]',
    ]);
    expect(linesOf(...three, at(16, 'prod-2/rules/hang'))[0]).toBe(
      'a [fleet/main.ts:16 (rules/hang in test, pre and 2 more)]',
    );
    expect(linesOf(at(16, 'test/rules/hang'), at(16, 'test/rules/disk'), at(17, 'pre/rules/hang'))).toEqual([
      'a [fleet/main.ts:16 (test/rules/hang)]',
      'a [fleet/main.ts:16 (test/rules/disk)]',
      'a [fleet/main.ts:17 (pre/rules/hang)]',
    ]);
    expect(linesOf(at(16, 'test'), at(16, 'pre'))).toEqual([
      'a [fleet/main.ts:16 (test)]',
      'a [fleet/main.ts:16 (pre)]',
    ]);
  });

  it('lists 20 problems and counts the others', () => {
    const problems = Array.from({ length: 23 }, (_, index) => ({ message: `problem ${index}` }));
    const lines = new RenderError('Failed', problems).message.split('\n');
    expect(lines).toHaveLength(21);
    expect(lines.slice(-2)).toEqual(['problem 19', 'and 3 more']);
  });

  it('is recognized with any code, or with one of those asked for', () => {
    const error = new RenderError('Timeout', []);
    expect(isRenderError(error)).toBe(true);
    expect(isRenderError(error, 'Failed', 'Timeout')).toBe(true);
    expect(isRenderError(error, 'Failed')).toBe(false);
    expect(isRenderError(new Error('Timeout'))).toBe(false);
  });
});
