/** Schema of metadata, which the API server checks although it is not in the CRDs. */
import { LABEL_KEY, LABEL_VALUE, OBJECT_NAME } from '../patterns.ts';

const anything = {};
const text = { type: 'string' } as const;

export const METADATA = {
  type: 'object',
  required: ['name'],
  properties: {
    name: { type: 'string', minLength: 1, pattern: OBJECT_NAME.regex },
    labels: {
      type: 'object',
      propertyNames: { pattern: LABEL_KEY.regex },
      additionalProperties: { type: 'string', maxLength: 63, pattern: LABEL_VALUE.regex },
    },
    annotations: {
      type: 'object',
      propertyNames: { pattern: LABEL_KEY.regex },
      additionalProperties: { type: 'string', maxLength: 262_144 },
    },
    finalizers: { type: 'array', items: text },
    ownerReferences: { type: 'array', items: { type: 'object' } },
    uid: text,
    resourceVersion: text,
    generation: { type: 'integer' },
    creationTimestamp: { type: ['string', 'null'] },
    deletionTimestamp: { type: ['string', 'null'] },
    deletionGracePeriodSeconds: { type: 'integer' },
    generateName: text,
    selfLink: text,
    managedFields: anything,
  },
} as const;
