/** Rules about one condition of a Node, accepted and in force. */
import { maintenanceRule } from '../../../rules/maintenance.ts';
import type { NodeRemedier } from '../../../src/api/generated/types.ts';
import { MAINTENANCE_REMEDIER } from '../../../src/api/names.ts';
import { REMOVED } from '../../rules/sample-rule.ts';
import { remedier } from '../remediers.ts';

const COMMIT = { 'kubenode.dev/commit': '4f2c9e1a77b0' };

export interface FaultRule {
  readonly name?: string;
  /** Seconds for which the condition has to be True. */
  readonly forSeconds?: number;
  readonly ladder?: readonly object[];
  /** By JSON pointer into the spec. */
  readonly changes?: Readonly<Record<string, unknown>>;
}

/** The condition is True: cordon, drain, reboot, verify that the Node is Ready, uncordon; then a person. */
export function faultRule(type: string, rule: FaultRule = {}): NodeRemedier {
  const { name = 'fault', forSeconds = 5, ladder = LADDER, changes = {} } = rule;
  const leaf = { fact: 'condition', params: { type } };
  const reported = (status: string): object => ({
    condition: { [type]: { status, observedSeconds: forSeconds } },
  });
  const spec = {
    '/rule': {
      conditions: {
        all: [
          { ...leaf, path: '$.status', operator: 'equal', value: 'True' },
          { ...leaf, path: '$.observedSeconds', operator: 'greaterThanInclusive', value: forSeconds },
        ],
      },
      clearSeconds: 600,
    },
    '/target/maxMatchPercent': 100,
    '/target/exclude': REMOVED,
    '/ladder': ladder,
    '/tests': [
      { name: 'sick', expect: 'Match', given: reported('True') },
      { name: 'well', expect: 'NoMatch', given: reported('False') },
      { name: 'silent', expect: 'Indeterminate', given: {} },
    ],
    ...changes,
  };
  return remedier(spec, { name, annotations: COMMIT });
}

export const READY = {
  all: [{ fact: 'condition', params: { type: 'Ready' }, path: '$.status', operator: 'equal', value: 'True' }],
};

export const REBOOT_RUNG = {
  name: 'reboot',
  plan: [{ step: 'Cordon' }, { step: 'Drain' }, { step: 'Reboot' }, { step: 'WaitForBoot' }],
  verify: { conditions: READY, holdSeconds: 60, timeoutSeconds: 300 },
  onVerified: [{ step: 'Uncordon' }],
};

export const PERSON_RUNG = { name: 'person', plan: [{ step: 'HandOff' }] };

const LADDER = [REBOOT_RUNG, PERSON_RUNG];

/** That of the example fleet, as sync applies it. */
export function shippedMaintenanceRule(): NodeRemedier {
  const changes: Record<string, unknown> = {};
  for (const [field, value] of Object.entries(maintenanceRule)) changes[`/${field}`] = value;
  return remedier(changes, { name: MAINTENANCE_REMEDIER, annotations: COMMIT });
}
