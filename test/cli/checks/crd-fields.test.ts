import { describe, expect, it } from 'vitest';
import { describeFields, firstSentence, typeName } from '../../../src/cli/checks/crd-fields.ts';
import type { CrdSchema } from '../../../src/cli/checks/crds.ts';

const STAGES: CrdSchema = {
  type: 'array',
  minItems: 1,
  description: 'Stages in order. Each has a name.',
  items: {
    type: 'object',
    required: ['name'],
    properties: {
      name: { type: 'string', maxLength: 63, description: 'Name of the stage.' },
      soakSeconds: { type: 'integer', minimum: 0, default: 600 },
    },
  },
};

describe('describeFields', () => {
  it('lists the fields of an object with their limits and the first sentence', () => {
    expect(describeFields({ properties: { stages: STAGES } }, 'spec', false)).toEqual([
      {
        path: 'spec.stages',
        type: 'list of object',
        required: false,
        limits: 'at least 1',
        description: 'Stages in order.',
      },
    ]);
  });

  it('includes the fields of list items if recursive', () => {
    const rows = describeFields({ properties: { stages: STAGES } }, 'spec', true);
    expect(rows.slice(1)).toMatchObject([
      { path: 'spec.stages.name', required: true, limits: 'length <= 63' },
      { path: 'spec.stages.soakSeconds', required: false, limits: 'default 600, >= 0' },
    ]);
  });
});

describe('typeName', () => {
  it.each<readonly [CrdSchema, string]>([
    [{ type: 'string' }, 'string'],
    [{ type: 'string', format: 'date-time' }, 'time'],
    [{ 'x-kubernetes-int-or-string': true }, 'integer or string'],
    [{ type: 'object', additionalProperties: { type: 'string' } }, 'map of string'],
    [{ type: 'array', items: { type: 'integer' } }, 'list of integer'],
    [{}, 'any'],
  ])('names %j', (schema, name) => {
    expect(typeName(schema)).toBe(name);
  });
});

describe('firstSentence', () => {
  it.each([
    ['One. Two.', 'One.'],
    ['A version such as 1.36.3 is fine. More.', 'A version such as 1.36.3 is fine.'],
    ['no end', 'no end'],
  ])('of %j', (text, sentence) => {
    expect(firstSentence(text)).toBe(sentence);
  });
});
