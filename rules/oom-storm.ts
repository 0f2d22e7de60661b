import { condition, type NodeRemedierSpec, node } from 'kubenode/constructs';

const storm = condition('FrequentSystemOOM');

/**
 * Keeps new Pods away from a node whose memory is used up as a whole, until it has enough again. The kernel has ended processes
 * itself; ending more would be a choice that only the owner of the Pods can make.
 */
export const oomStorm: NodeRemedierSpec = {
  mode: 'Enforce',
  owner: { team: 'node-sre', runbook: 'docs/runbooks/oom-storm.md' },
  faultClass: 'Memory',
  priority: 400,
  target: { nodeSelector: { all: true }, controlPlane: 'OneAtATime', maxMatchPercent: 5 },
  rule: {
    conditions: storm.is('True', { for: '1m' }),
    // After a boot all Pods start at once.
    gate: node.uptimeSeconds.atLeast(900),
    clearSeconds: 1800,
  },
  dedup: { group: 'oom', coveredBy: ['reboot', 'replace'] },
  ladder: [
    {
      name: 'relieve',
      plan: [
        { step: 'CollectDiagnostics', timeoutSeconds: 180, onFailure: 'Continue' },
        { step: 'Cordon', timeoutSeconds: 30 },
      ],
      verify: { conditions: storm.is('False'), holdSeconds: 600, timeoutSeconds: 3600 },
      onVerified: [{ step: 'Uncordon' }],
    },
    { name: 'person', plan: [{ step: 'HandOff', with: { queue: 'node-sre', severity: 'page' } }] },
  ],
  tests: [
    { name: 'memory is used up', expect: 'Match', given: { ...oom('True', 90), ...upFor(86_400) } },
    { name: 'a moment ago', expect: 'NoMatch', given: { ...oom('True', 20), ...upFor(86_400) } },
    { name: 'enough memory', expect: 'NoMatch', given: { ...oom('False', 9000), ...upFor(86_400) } },
    { name: 'just booted', expect: 'Held', given: { ...oom('True', 90), ...upFor(120) } },
    { name: 'detector silent', expect: 'Indeterminate', given: upFor(86_400) },
    { name: 'boot time unknown', expect: 'Indeterminate', given: oom('True', 90) },
  ],
};

function oom(status: 'True' | 'False', observedSeconds: number): Readonly<Record<string, unknown>> {
  return { condition: { FrequentSystemOOM: { status, observedSeconds } } };
}

function upFor(uptimeSeconds: number): Readonly<Record<string, unknown>> {
  return { node: { uptimeSeconds } };
}
