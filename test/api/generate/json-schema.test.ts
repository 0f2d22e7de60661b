import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { amount, windows } from '../../../src/api/common.ts';
import { jsonSchemaOf, mapSchema } from '../../../src/api/generate/json-schema.ts';
import { MOMENT } from '../../../src/api/patterns.ts';
import {
  anything,
  atomic,
  bigInt,
  choice,
  foreign,
  immutable,
  int,
  list,
  listMap,
  map,
  name,
  named,
  rules,
  type Schema,
  text,
  time,
} from '../../../src/api/schema.ts';

const RULE = { rule: 'self.a', message: 'needs a' };
const OTHER = { rule: 'self.b', message: 'needs b' };

describe('jsonSchemaOf converts zod to a structural schema:', () => {
  it.each<[what: string, schema: Schema, want: object]>([
    ['text', text('T.'), { description: 'T.', type: 'string', maxLength: 256 }],
    ['a name', name('N.'), { description: 'N.', type: 'string', minLength: 1, maxLength: 63 }],
    [
      'text with a pattern',
      text('T.', { max: 5, pattern: { regex: '^a+$', description: 'many a' } }),
      { description: 'T.', type: 'string', pattern: '^a+$', maxLength: 5 },
    ],
    ['an integer', int('I.', [1, 9]), { description: 'I.', type: 'integer', minimum: 1, maximum: 9 }],
    [
      'an integer without bounds of its own',
      int('I.'),
      { description: 'I.', type: 'integer', minimum: 0, maximum: 2_147_483_647 },
    ],
    [
      'a large integer',
      bigInt('I.'),
      { description: 'I.', type: 'integer', minimum: 0, maximum: 9_007_199_254_740_991 },
    ],
    ['a choice', choice('C.', ['A', 'B']), { description: 'C.', type: 'string', enum: ['A', 'B'] }],
    [
      'a choice with a default',
      choice('C.', ['A', 'B']).default('B'),
      { description: 'C.', type: 'string', enum: ['A', 'B'], default: 'B' },
    ],
    [
      'a choice of numbers',
      z.literal([1, 3]).meta({ description: 'C.', type: 'integer' }),
      { description: 'C.', type: 'integer', enum: [1, 3] },
    ],
    [
      'a list',
      list('L.', int('I.', [0, 1]), [0, 3]),
      {
        description: 'L.',
        type: 'array',
        maxItems: 3,
        items: { description: 'I.', type: 'integer', minimum: 0, maximum: 1 },
        'x-kubernetes-list-type': 'atomic',
      },
    ],
    [
      'a list with keys',
      listMap('L.', ['name'], named('Item', 'An item.', { name: name('N.') }), [1, 3]).default([
        { name: 'a' },
      ]),
      {
        description: 'L.',
        type: 'array',
        default: [{ name: 'a' }],
        minItems: 1,
        maxItems: 3,
        items: {
          description: 'An item.',
          'x-kubenode-type': 'Item',
          'x-kubenode-doc': 'An item.',
          type: 'object',
          required: ['name'],
          properties: { name: { description: 'N.', type: 'string', minLength: 1, maxLength: 63 } },
        },
        'x-kubernetes-list-type': 'map',
        'x-kubernetes-list-map-keys': ['name'],
      },
    ],
    [
      'an atomic map',
      atomic(map('M.', text('V.'), 4)).default({}),
      {
        description: 'M.',
        type: 'object',
        default: {},
        maxProperties: 4,
        additionalProperties: { description: 'V.', type: 'string', maxLength: 256 },
        'x-kubernetes-map-type': 'atomic',
      },
    ],
    [
      'an object whose fields others know',
      foreign('F.').optional(),
      { description: 'F.', type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
    ],
    ['any value', anything('A.'), { description: 'A.', 'x-kubernetes-preserve-unknown-fields': true }],
    [
      'an amount, without the anyOf that the API server refuses',
      amount('How many.').default('10%'),
      {
        description:
          'How many. A number, or "n%" of the set, rounded down, but at least 1 when n is above 0.',
        'x-kubenode-type': 'Amount',
        default: '10%',
        pattern: '^(100|[1-9]?[0-9])%$',
        maxLength: 4,
        minimum: 0,
        maximum: 1_000_000,
        'x-kubernetes-int-or-string': true,
      },
    ],
    [
      'an object with a default that its own fields complete',
      named('Limits', 'Limits.', { max: int('M.', [0, 9]).default(3) }).prefault({}),
      {
        description: 'Limits.',
        'x-kubenode-type': 'Limits',
        'x-kubenode-doc': 'Limits.',
        type: 'object',
        default: {},
        properties: { max: { description: 'M.', type: 'integer', default: 3, minimum: 0, maximum: 9 } },
      },
    ],
    [
      'rules, also when they are added one after the other',
      rules(rules(int('I.', [0, 1]), RULE), OTHER).optional(),
      {
        description: 'I.',
        type: 'integer',
        minimum: 0,
        maximum: 1,
        'x-kubernetes-validations': [RULE, OTHER],
      },
    ],
  ])('%s', (_, schema, want) => {
    expect(jsonSchemaOf(schema)).toEqual(want);
  });

  it('a time has a pattern and no format, with which the API server would accept a list', () => {
    expect(jsonSchemaOf(time('When.'))).toMatchObject({
      type: 'string',
      pattern: MOMENT.regex,
      maxLength: 40,
    });
    expect(jsonSchemaOf(time('When.'))).not.toHaveProperty('format');
  });

  it('an immutable field has a rule whose message suggests what to do instead', () => {
    const [rule] = jsonSchemaOf(immutable('the driver', text('T.')))['x-kubernetes-validations'] ?? [];
    expect(rule).toMatchObject({ rule: 'self == oldSelf', reason: 'FieldValueForbidden' });
    expect(rule?.message).toContain('the driver cannot be changed');
  });

  it('a later description applies to the field, and the type keeps its own', () => {
    const schema = jsonSchemaOf(named('Item', 'An item.', {}).describe('The first one.'));
    expect(schema).toMatchObject({ description: 'The first one.', 'x-kubenode-doc': 'An item.' });
  });

  it('CEL rules are kept with a new description', () => {
    const { items } = jsonSchemaOf(windows('Times.').describe('Other times.'));
    expect(items?.['x-kubernetes-validations']).toHaveLength(1);
  });

  it('a union of objects is refused at generation', () => {
    expect(() => jsonSchemaOf(z.union([z.object({ a: z.int() }), z.string()]))).toThrow('not structural');
  });

  it('a keyword that CRDs do not allow is refused at generation', () => {
    expect(() => jsonSchemaOf(text('T.').meta({ 'x-strange': 1 }))).toThrow('x-strange');
  });
});

describe('mapSchema', () => {
  it('visits fields, items and values, the innermost first', () => {
    const visited: string[] = [];
    mapSchema(
      {
        description: 'root',
        properties: {
          list: { description: 'list', items: { description: 'item' } },
          map: { description: 'map', additionalProperties: { description: 'value' } },
        },
      },
      (part) => {
        visited.push(part.description ?? '');
        return part;
      },
    );
    expect(visited).toEqual(['item', 'list', 'value', 'map', 'root']);
  });
});
