/** The rules of a simulated cluster: one fault that the agent reports, and one that the network of the cluster reports. */
import type { NodeRemedier, RemedyStep, Rung } from '../../../api/generated/types.ts';
import { ANNOTATION_COMMIT, GROUP } from '../../../api/names.ts';
import { withMaintenance } from './maintenance.ts';

/** Both become False again by themselves, and need no heartbeat. */
export const FAULTS = { hung: 'FrequentTaskHung', network: 'NetworkUnavailable' } as const;
export type SimulatedFault = keyof typeof FAULTS;
/** The rule for hosts of which nothing answers. */
export const DEAD = 'dead';

type WrittenStep = Pick<RemedyStep, 'step'> & Partial<RemedyStep>;

function step(written: WrittenStep): RemedyStep {
  const usual = { with: {}, timeoutSeconds: 120, retries: 0, onFailure: 'Fail', onTimeout: 'Fail' } as const;
  return { ...usual, ...written };
}

function rung(
  fault: SimulatedFault,
  written: Pick<Rung, 'name' | 'maxAttempts' | 'plan' | 'onVerified'>,
): Rung {
  const conditions = { all: [condition(fault, 'False')] };
  const verify = {
    holdSeconds: 30,
    timeoutSeconds: written.name === 'restart' ? 60 : 180,
    target: 'Node',
    conditions,
  } as const;
  return { retrySeconds: 120, verify, ...written };
}

function condition(fault: SimulatedFault, value: string): object {
  return { fact: 'condition', params: { type: FAULTS[fault] }, path: '$.status', operator: 'equal', value };
}

const DRAIN = { deadNode: 'Wait' };
const REBOOT = step({ step: 'Reboot', with: { via: ['Agent'] }, timeoutSeconds: 300, retries: 1 });
/** Time in which people act, and faults end. */
const NOTIFY = step({
  step: 'Notify',
  with: { signal: 'Reboot', to: 'Owner', leadTimeSeconds: 240 },
  timeoutSeconds: 300,
});
const PERSON: Rung = {
  name: 'person',
  maxAttempts: 1,
  retrySeconds: 0,
  plan: [step({ step: 'HandOff', with: { severity: 'ticket', vendorCase: false } })],
  onVerified: [],
};

const LADDERS: Readonly<Record<SimulatedFault, readonly Rung[]>> = {
  hung: [
    rung('hung', {
      name: 'restart',
      maxAttempts: 1,
      plan: [step({ step: 'RestartService', with: { service: 'kubelet' }, onFailure: 'NextRung' })],
      onVerified: [],
    }),
    rung('hung', {
      name: 'reboot',
      maxAttempts: 2,
      plan: [
        step({ step: 'Cordon' }),
        step({ step: 'Drain', with: DRAIN }),
        NOTIFY,
        REBOOT,
        step({ step: 'WaitForBoot' }),
      ],
      onVerified: [step({ step: 'Uncordon' })],
    }),
    PERSON,
  ],
  network: [
    rung('network', {
      name: 'reboot',
      maxAttempts: 1,
      plan: [
        step({ step: 'Cordon' }),
        step({ step: 'Taint', with: { key: 'example.org/network', effect: 'NoSchedule' } }),
        step({ step: 'Drain', with: DRAIN }),
        NOTIFY,
        REBOOT,
      ],
      onVerified: [],
    }),
    PERSON,
  ],
};

const VIA = { via: ['BMC', 'Provider'] };
const RETURNED = {
  fact: 'condition',
  params: { type: 'AgentReady' },
  path: '$.status',
  operator: 'equal',
} as const;

function powerRung(name: string, plan: Rung['plan']): Rung {
  const conditions = { all: [{ ...RETURNED, value: 'True' }] };
  return {
    name,
    maxAttempts: 1,
    retrySeconds: 60,
    plan: [step({ step: 'Cordon' }), ...plan],
    verify: { holdSeconds: 30, timeoutSeconds: 300, target: 'Node', conditions },
    onVerified: [step({ step: 'Uncordon' })],
  };
}

/** It is fenced first, so that each run releases pods of machines that are off. */
const DEAD_LADDER: readonly Rung[] = [
  powerRung('fence', [
    step({ step: 'PowerOff', with: VIA, timeoutSeconds: 300 }),
    step({ step: 'OutOfServiceTaint' }),
    step({ step: 'PowerOn', with: VIA, timeoutSeconds: 300 }),
  ]),
  powerRung('cycle', [step({ step: 'PowerCycle', with: VIA, timeoutSeconds: 600 })]),
  PERSON,
];

export function simulatedRemediers(): readonly NodeRemedier[] {
  const ofFaults = (Object.keys(LADDERS) as SimulatedFault[]).map((fault) => remedier(fault, specOf(fault)));
  return [...ofFaults, withMaintenance(specOf('hung'), PERSON), remedier(DEAD, deadSpec())];
}

function remedier(name: string, spec: NodeRemedier['spec']): NodeRemedier {
  return {
    apiVersion: `${GROUP}/v1alpha1`,
    kind: 'NodeRemedier',
    metadata: { name, annotations: { [ANNOTATION_COMMIT]: '4f2c9e1a77b0' } },
    spec,
  };
}

/** Lets each reboot go on by the switch when the agent does not reboot the host. */
export function withSwitches(object: NodeRemedier): NodeRemedier {
  const via = ['Agent', 'SysRq', ...VIA.via];
  const ladder = object.spec.ladder.map((each) => ({
    ...each,
    plan: each.plan.map((planned) => (planned.step === 'Reboot' ? { ...planned, with: { via } } : planned)),
  }));
  return { ...object, spec: { ...object.spec, ladder } };
}

function deadSpec(): NodeRemedier['spec'] {
  const spec = specOf('network');
  const silent = { ...RETURNED, value: 'Unknown' };
  const notReady = { ...RETURNED, params: { type: 'Ready' }, value: 'False' };
  return {
    ...spec,
    priority: 700,
    rule: { ...spec.rule, conditions: { all: [silent, notReady] } },
    ladder: DEAD_LADDER,
    tests: [
      { name: 'dead', expect: 'Match', given: deadFacts('Unknown') },
      { name: 'alive', expect: 'NoMatch', given: deadFacts('True') },
      { name: 'not reported', expect: 'Indeterminate', given: {} },
    ],
  } as NodeRemedier['spec'];
}

function deadFacts(agent: string): object {
  return { condition: { AgentReady: { status: agent }, Ready: { status: 'False' } } };
}

function specOf(fault: SimulatedFault): NodeRemedier['spec'] {
  const facts = (status: string): object => ({ condition: { [FAULTS[fault]]: { status } } });
  return {
    mode: 'Enforce',
    owner: { team: 'nodes' },
    faultClass: fault === 'hung' ? 'Kernel' : 'Network',
    priority: fault === 'hung' ? 500 : 600,
    target: { nodeSelector: { all: true }, controlPlane: 'Never', maxMatchPercent: 80 },
    rule: {
      conditions: { all: [condition(fault, 'True')] },
      maxAgeSeconds: {},
      clearSeconds: 60,
      // oxlint-disable-next-line unicorn/no-thenable -- name of the API field
      flap: { windowSeconds: 3600, maxTransitions: 4, then: 'HandOff' },
      onIndeterminate: { action: 'Wait', afterSeconds: 3600 },
    },
    ladder: LADDERS[fault],
    perMachine: { maxJobs: 20, windowSeconds: 86_400 },
    job: { deadlineSeconds: 1800, ttlSeconds: 86_400, historyLimit: 200 },
    tests: [
      { name: 'ill', expect: 'Match', given: facts('True') },
      { name: 'well', expect: 'NoMatch', given: facts('False') },
      { name: 'not reported', expect: 'Indeterminate', given: {} },
    ],
  } as NodeRemedier['spec'];
}
