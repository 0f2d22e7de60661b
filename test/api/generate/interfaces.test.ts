import { describe, expect, it } from 'vitest';
import { amount } from '../../../src/api/common.ts';
import { expr } from '../../../src/api/expr.ts';
import { interfaces, type Side } from '../../../src/api/generate/interfaces.ts';
import { jsonSchemaOf } from '../../../src/api/generate/json-schema.ts';
import {
  anything,
  choice,
  decimal,
  flag,
  foreign,
  int,
  list,
  map,
  named,
  type Schema,
  text,
} from '../../../src/api/schema.ts';

describe('interfaces', () => {
  it.each<[schema: string, want: string, field: Schema]>([
    ['text', 'string', text('T.')],
    ['a flag', 'boolean', flag('F.')],
    ['an integer', 'number', int('I.')],
    ['a decimal', 'number', decimal('D.')],
    ['a choice', "'A' | 'B'", choice('C.', ['A', 'B'])],
    ['a list', 'readonly string[]', list('L.', text('T.'), [0, 2])],
    ['a list of choices', "readonly ('A' | 'B')[]", list('L.', choice('C.', ['A', 'B']), [0, 2])],
    ['a map', 'Readonly<Record<string, number>>', map('M.', int('I.'), 2)],
    ['what others know', 'Readonly<Record<string, unknown>>', foreign('F.')],
    ['anything', 'unknown', anything('A.')],
    ['an amount', 'Amount', amount('A.')],
    ['an object', 'Inner', named('Inner', 'Inner.', {})],
  ])('%s is %s', (_, want, field) => {
    expect(interfaces('stored').typeOf(jsonSchemaOf(field))).toBe(want);
  });

  it.each<[side: Side, want: string]>([
    ['stored', '  readonly filled: number;'],
    ['written', '  readonly filled?: number;'],
  ])('%s: a field with a default', (side, want) => {
    const lines = textOf(side, 'Outer', { filled: int('Filled.', [0, 5]).default(3) });
    expect(lines).toContain('  /** Filled. (0 to 5; default 3) */\n');
    expect(lines).toContain(want);
  });

  it('marks required and optional fields', () => {
    const lines = textOf('stored', 'Outer', { must: text('M.'), may: text('N.').optional() });
    expect(lines).toContain('readonly must: string;');
    expect(lines).toContain('readonly may?: string;');
  });

  it('writes a type once that is used twice', () => {
    const inner = named('Inner', 'Inner.', { a: text('A.') });
    const types = interfaces('stored');
    types.typeOf(
      jsonSchemaOf(named('Outer', 'Outer.', { one: inner.describe('One.'), two: inner.describe('Two.') })),
    );
    expect([...types.texts.keys()]).toEqual(['Outer', 'Inner']);
  });

  it('refuses two types with one name', () => {
    const types = interfaces('stored');
    types.typeOf(jsonSchemaOf(named('Inner', 'Inner.', { a: text('A.') })));
    expect(() => types.typeOf(jsonSchemaOf(named('Inner', 'Inner.', { b: text('B.') })))).toThrow(
      'called Inner',
    );
  });

  it('writes a recursive type as one interface', () => {
    const types = interfaces('stored');
    types.typeOf(jsonSchemaOf(expr('E.')));
    expect(types.texts.get('Expr')).toContain('readonly all?: readonly Expr[];');
  });
});

function textOf(side: Side, name: string, fields: Record<string, Schema>): string {
  const types = interfaces(side);
  types.typeOf(jsonSchemaOf(named(name, 'Outer.', fields)));
  return types.texts.get(name) ?? '';
}
