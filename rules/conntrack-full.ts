import { condition, type NodeRemedierSpec, node } from 'kubenode/constructs';

const full = condition('ConntrackFull');

/** Keeps new Pods away from a node that drops packets because it tracks too many connections, until it tracks fewer. */
export const conntrackFull: NodeRemedierSpec = {
  mode: 'Enforce',
  owner: { team: 'node-sre', runbook: 'docs/runbooks/conntrack-full.md' },
  faultClass: 'Network',
  priority: 410,
  target: { nodeSelector: { all: true }, controlPlane: 'OneAtATime', maxMatchPercent: 5 },
  rule: {
    conditions: full.is('True', { for: '1m' }),
    // After a boot all connections are opened at once.
    gate: node.uptimeSeconds.atLeast(900),
    clearSeconds: 1800,
  },
  dedup: { group: 'conntrack', coveredBy: ['reboot', 'replace'] },
  ladder: [
    {
      name: 'relieve',
      plan: [
        { step: 'CollectDiagnostics', timeoutSeconds: 180, onFailure: 'Continue' },
        { step: 'Cordon', timeoutSeconds: 30 },
      ],
      verify: { conditions: full.is('False'), holdSeconds: 600, timeoutSeconds: 3600 },
      onVerified: [{ step: 'Uncordon' }],
    },
    { name: 'person', plan: [{ step: 'HandOff', with: { queue: 'node-sre', severity: 'page' } }] },
  ],
  tests: [
    { name: 'drops packets', expect: 'Match', given: { ...conntrack('True', 90), ...upFor(86_400) } },
    { name: 'a moment ago', expect: 'NoMatch', given: { ...conntrack('True', 20), ...upFor(86_400) } },
    { name: 'has room', expect: 'NoMatch', given: { ...conntrack('False', 9000), ...upFor(86_400) } },
    { name: 'just booted', expect: 'Held', given: { ...conntrack('True', 90), ...upFor(120) } },
    { name: 'detector silent', expect: 'Indeterminate', given: upFor(86_400) },
    { name: 'boot time unknown', expect: 'Indeterminate', given: conntrack('True', 90) },
  ],
};

function conntrack(status: 'True' | 'False', observedSeconds: number): Readonly<Record<string, unknown>> {
  return { condition: { ConntrackFull: { status, observedSeconds } } };
}

function upFor(uptimeSeconds: number): Readonly<Record<string, unknown>> {
  return { node: { uptimeSeconds } };
}
