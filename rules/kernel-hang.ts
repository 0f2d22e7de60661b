import { all, condition, type NodeRemedierSpec, node } from 'kubenode/constructs';

const healthy = all(condition('Ready').is('True'), condition('FrequentTaskHung').is('False'));

/** Reboots a node whose kernel hangs: the detector reported it from lines of the kernel log. */
export const kernelHang: NodeRemedierSpec = {
  mode: 'Enforce',
  owner: { team: 'node-sre', runbook: 'docs/runbooks/kernel-hang.md' },
  faultClass: 'Kernel',
  priority: 700,
  target: { nodeSelector: { all: true }, controlPlane: 'Never', maxMatchPercent: 5 },
  rule: {
    conditions: condition('FrequentTaskHung').is('True', { for: '2m' }),
    // A node that hangs again right after its boot is for a person.
    gate: node.uptimeSeconds.atLeast(900),
  },
  dedup: { group: 'reboot', coveredBy: ['replace'] },
  ladder: [
    {
      name: 'reboot',
      plan: [
        { step: 'CollectDiagnostics', timeoutSeconds: 180, onFailure: 'Continue' },
        { step: 'Cordon', timeoutSeconds: 30 },
        { step: 'Drain', with: { deadNode: 'Skip' }, timeoutSeconds: 900, onTimeout: 'RequestApproval' },
        { step: 'Reboot', timeoutSeconds: 600 },
        { step: 'WaitForBoot', timeoutSeconds: 600 },
      ],
      verify: { conditions: healthy, holdSeconds: 300, timeoutSeconds: 900 },
      onVerified: [{ step: 'Uncordon' }],
    },
    { name: 'person', plan: [{ step: 'HandOff', with: { queue: 'node-sre', severity: 'page' } }] },
  ],
  tests: [
    { name: 'three hung tasks', expect: 'Match', given: { ...taskHung('True', 180), ...upFor(86_400) } },
    { name: 'hung for a moment', expect: 'NoMatch', given: { ...taskHung('True', 30), ...upFor(86_400) } },
    { name: 'no hung task', expect: 'NoMatch', given: { ...taskHung('False', 9000), ...upFor(86_400) } },
    { name: 'just booted', expect: 'Held', given: { ...taskHung('True', 180), ...upFor(120) } },
    { name: 'detector silent', expect: 'Indeterminate', given: upFor(86_400) },
    { name: 'boot time unknown', expect: 'Indeterminate', given: taskHung('True', 180) },
  ],
};

function taskHung(status: 'True' | 'False', observedSeconds: number): Readonly<Record<string, unknown>> {
  return { condition: { FrequentTaskHung: { status, observedSeconds } } };
}

function upFor(uptimeSeconds: number): Readonly<Record<string, unknown>> {
  return { node: { uptimeSeconds } };
}
