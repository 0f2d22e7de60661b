import { describe, expect, it } from 'vitest';
import { formatLocation, isRenderError, RenderError } from '../../../src/sync/render/errors.ts';

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
