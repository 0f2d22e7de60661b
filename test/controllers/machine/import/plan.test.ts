import { describe, expect, it } from 'vitest';
import {
  type ImportInput,
  type ImportStep,
  planImport,
} from '../../../../src/controllers/machine/import/plan.ts';
import { condition, machine, NOW } from '../../../support/builders.ts';
import { certificateRequestIn, DOWN, importInput, MISMATCH, machineAt } from './inputs.ts';

type Row = [it: string, input: ImportInput, expected: string];

const STEPS: readonly (readonly [ImportStep, number, Partial<ImportInput>])[] = [
  ['Connect', 0, {}],
  ['Preflight', 1, {}],
  ['Install', 2, {}],
  ['Request', 3, {}],
  ['Deliver', 3, { request: certificateRequestIn('Issued') }],
];
const later = new Date(+NOW + 1000);
const spoken = [condition('AgentReady', 'True')];
const silent = [condition('AgentReady', 'Unknown'), condition('SSHCredentialsNeeded', 'False')];

const EACH_STEP: readonly Row[] = STEPS.flatMap(([step, at, known]): Row[] => {
  const on = (more: Partial<ImportInput>): ImportInput => importInput(machineAt(at), { ...known, ...more });
  const attempt = importInput(machineAt(at)).attempt;
  const failed = machineAt(at, { recorded: { failedAttempt: attempt } });
  return [
    [`${step}: begins`, on({}), `Act ${step}`],
    [`${step}: runs`, on({ isRunning: true }), 'Wait: a step is under way'],
    [`${step}: ends`, on({ result: { step } }), `Record: ${step} is done`],
    [
      `${step}: fails`,
      on({ result: { step, failure: DOWN, retryAt: later } }),
      'Wait: it failed: Unreachable',
    ],
    [`${step}: is repeated`, on({ result: { step, failure: DOWN, retryAt: NOW } }), `Act ${step}`],
    [
      `${step}: fails for good`,
      on({ result: { step, failure: MISMATCH } }),
      'Nothing: it failed for good: HostKeyMismatch',
    ],
    [
      `${step}: failed for good in an earlier process`,
      importInput(failed, known),
      'Nothing: this attempt failed for good',
    ],
    [
      `${step}: failed for good before the spec changed`,
      importInput(failed, { ...known, attempt: 'other' }),
      `Act ${step}`,
    ],
    [
      `${step}: follows the result of another step`,
      on({ result: { step: step === 'Connect' ? 'Install' : 'Connect' } }),
      `Act ${step}`,
    ],
    [`${step}: is held`, on({ isHeld: true }), 'Nothing: the machine is held'],
    [`${step}: is not for this process`, on({ isOpen: false }), 'Nothing: this process imports no hosts'],
    [
      `${step}: is not for a Machine that is deleted`,
      importInput(machineAt(at, { deleted: true }), known),
      'Nothing: the Machine is being deleted',
    ],
    [
      `MAC-16 is not needed once the agent has reported: ${step}`,
      importInput(machineAt(at, { conditions: spoken }), known),
      'Nothing: the host has its certificate',
    ],
    [
      `MAC-16 is not needed while an agent that has reported is silent: ${step}`,
      importInput(machineAt(at, { conditions: silent }), known),
      'Nothing: the host has its certificate',
    ],
  ];
});

const OTHERS: readonly Row[] = [
  ['a machine that is not imported', importInput(machine('m')), 'Nothing: the host joins by itself'],
  [
    'a dry run',
    importInput(machineAt(2, { host: { dryRun: true } })),
    'Nothing: only the preflight is asked for',
  ],
  [
    'a dry run whose preflight is not done',
    importInput(machineAt(1, { host: { dryRun: true } })),
    'Act Preflight',
  ],
  [
    'a request before the step is in the status',
    importInput(machineAt(3, { conditions: [] }), {
      machine: {
        ...machineAt(3),
        status: {
          conditions: ['HostTrusted', 'PreflightPassed', 'AgentInstalled'].map((type) =>
            condition(type, 'True'),
          ),
        },
      },
    }),
    'Wait: the step Registering is not in the status yet',
  ],
  [
    'a key that was made',
    importInput(machineAt(3), { result: { step: 'Request', requestPem: 'PEM' } }),
    'CreateRequest: the host has made its key',
  ],
  [
    'a request that waits',
    importInput(machineAt(3), { request: certificateRequestIn('Pending') }),
    'Wait: the certificate was not issued yet',
  ],
  [
    'a request that is not signed',
    importInput(machineAt(3), { request: certificateRequestIn('Approved') }),
    'Wait: the certificate was not issued yet',
  ],
  [
    'a request that was denied',
    importInput(machineAt(3), { request: certificateRequestIn('Denied') }),
    'Nothing: the certificate request was denied',
  ],
  [
    'a host that has its certificate',
    importInput(machineAt(3, { recorded: { agentEpoch: 0 } })),
    'Nothing: the host has its certificate',
  ],
  [
    'MAC-21 stops for an older Machine that is the same host',
    importInput(machineAt(1), { twin: { name: 'n', because: 'it is' } }),
    'Nothing: Machine n is the same host',
  ],
  [
    'MAC-21 a twin after the host was claimed',
    importInput(machineAt(3), { twin: { name: 'n', because: 'it is' } }),
    'Act Request',
  ],
  [
    'an epoch that was raised for an agent that reports',
    importInput(machineAt(3, { conditions: spoken, spec: { agentEpoch: 2 }, recorded: { agentEpoch: 1 } })),
    'Act Request',
  ],
  [
    'an epoch that is the same',
    importInput(machineAt(3, { conditions: spoken, spec: { agentEpoch: 2 }, recorded: { agentEpoch: 2 } })),
    'Nothing: the host has its certificate',
  ],
];

describe('planImport', () => {
  it.each([...EACH_STEP, ...OTHERS])('MAC-10 decides one step after the other: %s', (_, input, expected) => {
    const decision = planImport(input);
    const text = decision.type === 'Act' ? `Act ${decision.step}` : `${decision.type}: ${decision.because}`;
    expect(text).toBe(expected);
    expect(decision.because).not.toBe('');
  });

  it('tells when a step that failed is repeated', () => {
    const result = { step: 'Connect', failure: DOWN, retryAt: later } as const;
    expect(planImport(importInput(machineAt(0), { result }))).toMatchObject({ until: later });
  });
});
