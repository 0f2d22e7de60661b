/** The bodies of the HTTP API of the Defender, as JSON Schemas: requests are validated with them, and OpenAPI describes them. */
import { DENY_REASONS } from '../deny-reasons.ts';
import { FAULT_CLASSES, HOLDERS, RISKS } from '../enums.ts';
import { OTHER_ACTIONS } from '../steps/actions.ts';
import { STEPS } from '../steps/steps.ts';

/** The part of JSON Schema that is used. */
export interface BodySchema {
  readonly type?: 'object' | 'array' | 'string' | 'integer' | 'boolean';
  readonly description?: string;
  readonly properties?: Readonly<Record<string, BodySchema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: false;
  readonly items?: BodySchema;
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly default?: unknown;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly pattern?: string;
  readonly $ref?: string;
}

type Fields = Readonly<Record<string, BodySchema>>;

function object(description: string, required: Fields, optional: Fields = {}): BodySchema {
  return {
    type: 'object',
    description,
    properties: { ...required, ...optional },
    required: Object.keys(required),
    additionalProperties: false,
  };
}

function text(description: string, maxLength: number): BodySchema {
  return { type: 'string', description, minLength: 1, maxLength };
}

function choice(description: string, values: readonly string[]): BodySchema {
  return { type: 'string', description, enum: values };
}

function time(description: string): BodySchema {
  return {
    type: 'string',
    description,
    pattern: String.raw`^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d{1,9})?(Z|[+-]\d{2}:\d{2})$`,
  };
}

const number = (description: string): BodySchema => ({ type: 'integer', description });
const always = (value: boolean, description: string): BodySchema => ({
  type: 'boolean',
  const: value,
  description,
});
export const reference = (name: string): BodySchema => ({ $ref: `#/components/schemas/${name}` });

const ACTIONS = [...STEPS, ...OTHER_ACTIONS];

const machine = text('Name of the Machine.', 253);
const action = choice('What will be done: a repair step, or another act.', ACTIONS);
const risk = choice('Risk of the act.', RISKS);
const id = text('Id of the grant.', 64);
const fence: BodySchema = { type: 'integer', description: 'Fence of the grant.', minimum: 0 };
const faultClass = choice('Fault class: quiet windows may exempt it.', FAULT_CLASSES);

/** By name: what a caller sends. */
export const REQUESTS = {
  Ask: object(
    'Asks whether an act on a machine is safe now. The holder is the caller.',
    { machine, action },
    {
      risk: { ...risk, description: 'Risk of the act. Default: that of the step.' },
      nodeUID: text('UID of the Node that the caller observed. Default: that of the Defender.', 63),
      factsAt: time('When the caller observed what it acts upon. Default: now. Void after 60 s.'),
      expectedSeconds: {
        type: 'integer',
        description: 'How long the act takes.',
        minimum: 0,
        maximum: 86_400,
        default: 600,
      },
      faultClass,
      started: {
        type: 'boolean',
        description: 'Begin at once: the grant counts as started, and must be settled.',
        default: false,
      },
      dryRun: { type: 'boolean', description: 'Only decide: record nothing.', default: false },
    },
  ),
  Renew: object(
    'Extends a grant of the caller before the next disruptive step, and marks it started.',
    { id, fence },
    { faultClass },
  ),
  Settle: object('Ends a grant of the caller. Without effect on one that has ended.', {
    id,
    fence,
    outcome: choice('How the act ended. Unused: it did not begin.', [
      'Succeeded',
      'Failed',
      'Ambiguous',
      'Unused',
    ]),
  }),
  Approve: object(
    'Answers an act that waits for an approval, in the name of the caller.',
    {
      machine: text('Name of the Machine, or `cluster:NAME` of a hosted control plane.', 253),
      decision: choice('The answer.', ['Approved', 'Refused']),
      reason: text('Why. Recorded with the name of the caller.', 256),
    },
    {
      action: { ...action, description: 'The act, if it is not the only one on the machine that waits.' },
      holder: object('Holder of that act.', {
        kind: choice('Kind of the holder.', HOLDERS),
        name: text('Name of the holder.', 253),
      }),
      risk: { ...risk, description: 'Risk of that act. Default: that of the step.' },
    },
  ),
} as const satisfies Fields;

export type RequestName = keyof typeof REQUESTS;

const causeFields: readonly [required: Fields, optional: Fields] = [
  {
    reason: choice('Why, for programs. docs/runbooks/denials.md explains each.', DENY_REASONS),
    message: text('Why, for people.', 4096),
  },
  {
    policy: text('DefenderPolicy that decides.', 253),
    key: text('What is counted: pool web, zone eu-1a.', 512),
    used: number('How much of the limit is used.'),
    limit: number('The limit.'),
    until: time('When this cause ends, where time alone ends it.'),
  },
];

/** By name: what the server answers. */
export const ANSWERS = {
  Grant: object('A recorded permission. Begin the act before it ends.', {
    granted: always(true, 'Always true.'),
    id,
    fence,
    machine,
    action,
    risk,
    issuedAt: time('When it was issued.'),
    notAfter: time('When the permission ends, unless it is renewed.'),
  }),
  Allowance: object('The answer to a dry run. It permits nothing.', {
    granted: always(true, 'Always true.'),
    dryRun: always(true, 'Always true.'),
  }),
  DenialCause: object('One check that failed.', ...causeFields),
  Denial: object(
    'The act is not permitted now. Ask again with fresh facts.',
    {
      granted: always(false, 'Always false.'),
      ...causeFields[0],
      also: { type: 'array', description: 'The other causes.', items: reference('DenialCause') },
    },
    { ...causeFields[1], retryAt: time('When to ask again, where time alone changes the answer.') },
  ),
  Settled: object('The grant has ended.', { settled: always(true, 'Always true.'), id }),
  Answered: object(
    'The answer that was recorded.',
    {
      machine,
      action,
      risk,
      holder: text('Name of the holder.', 253),
      holderKind: choice('Kind of the holder.', HOLDERS),
      decision: choice('The answer.', ['Approved', 'Refused']),
      by: text('Who answered.', 128),
      at: time('When it was answered.'),
      until: time('When the answer ends.'),
    },
    { reason: text('Why.', 256) },
  ),
  Problem: object(
    'The request was not decided.',
    { reason: text('Why, for programs.', 64), message: text('Why, for people.', 4096) },
    { leader: text('Process that answers instead, as last observed.', 253) },
  ),
} as const satisfies Fields;

export type AnswerName = keyof typeof ANSWERS;
