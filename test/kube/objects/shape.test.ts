import { describe, expect, it } from 'vitest';
import { MAX_LEVELS, shapeReason } from '../../../src/kube/objects/shape.ts';

function nested(levels: number): unknown {
  let value: unknown = 'inside';
  for (let n = 0; n < levels; n += 1) value = n % 2 === 0 ? { inner: value } : [value];
  return value;
}

describe('shapeReason', () => {
  it.each<[name: string, metadata: object, reason: string | undefined]>([
    ['a map of strings', { labels: { a: 'b' }, annotations: {} }, undefined],
    ['nothing', {}, undefined],
    ['null, which the server ignores', { labels: null, annotations: null, namespace: null }, undefined],
    [
      'annotations that are a string',
      { annotations: 'a' },
      'metadata.annotations: expected a map of strings, got a string',
    ],
    ['labels that are a list', { labels: ['a'] }, 'metadata.labels: expected a map of strings, got a list'],
    ['labels that are a number', { labels: 7 }, 'metadata.labels: expected a map of strings, got a number'],
    [
      'a label that is a number',
      { labels: { a: 1 } },
      'metadata.labels["a"]: expected a string, got a number (quote it)',
    ],
    [
      'an annotation that is a map',
      { annotations: { 'a"': {} } },
      String.raw`metadata.annotations["a\""]: expected a string, got a map (quote it)`,
    ],
    [
      'an annotation that is null',
      { annotations: { a: null } },
      'metadata.annotations["a"]: expected a string, got null (quote it)',
    ],
    ['a namespace that is a number', { namespace: 5 }, 'metadata.namespace: expected a string'],
  ])('judges %s', (_, metadata, reason) => {
    expect(shapeReason({ metadata })).toBe(reason);
  });

  it.each([MAX_LEVELS + 1, 100_000])('SAF-20 refuses %i levels, and runs out of no stack', (levels) => {
    expect(shapeReason(nested(levels))).toBe('nested more than 200 levels deep');
  });

  it('accepts 200 levels, and a value that contains itself', () => {
    expect(shapeReason(nested(MAX_LEVELS))).toBeUndefined();
    const circle: Record<string, unknown> = {};
    circle['self'] = [circle, circle];
    expect(shapeReason(circle)).toBeUndefined();
  });
});
