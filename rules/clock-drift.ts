import { condition, type NodeRemedierSpec, node } from 'kubenode/constructs';

/**
 * Hands a node off to people whose clock is not synchronized. It takes no cordon: the Pods there run, and what drifts first is the
 * clock, not the node. Where the time servers of all nodes are down, maxMatchPercent keeps the rule from acting at all.
 */
export const clockDrift: NodeRemedierSpec = {
  mode: 'Enforce',
  owner: { team: 'node-sre', runbook: 'docs/runbooks/clock-drift.md' },
  faultClass: 'Other',
  priority: 200,
  target: { nodeSelector: { all: true }, controlPlane: 'OneAtATime', maxMatchPercent: 5 },
  rule: {
    conditions: condition('NTPProblem').is('True', { for: '10m' }),
    // After a boot it takes some minutes until the first servers were asked.
    gate: node.uptimeSeconds.atLeast(1800),
    clearSeconds: 1800,
  },
  dedup: { group: 'clock', coveredBy: ['reboot', 'replace'] },
  ladder: [
    {
      name: 'person',
      plan: [
        { step: 'CollectDiagnostics', timeoutSeconds: 180, onFailure: 'Continue' },
        { step: 'HandOff', with: { queue: 'node-sre', severity: 'ticket' } },
      ],
    },
  ],
  tests: [
    { name: 'not synchronized', expect: 'Match', given: { ...ntp('True', 900), ...upFor(86_400) } },
    { name: 'a moment ago', expect: 'NoMatch', given: { ...ntp('True', 300), ...upFor(86_400) } },
    { name: 'synchronized', expect: 'NoMatch', given: { ...ntp('False', 9000), ...upFor(86_400) } },
    { name: 'just booted', expect: 'Held', given: { ...ntp('True', 900), ...upFor(1200) } },
    {
      name: 'host cannot tell',
      expect: 'NoMatch',
      given: { ...ntp('Unknown', 900), ...upFor(86_400) },
    },
    { name: 'detector silent', expect: 'Indeterminate', given: upFor(86_400) },
    { name: 'boot time unknown', expect: 'Indeterminate', given: ntp('True', 900) },
  ],
};

function ntp(
  status: 'True' | 'False' | 'Unknown',
  observedSeconds: number,
): Readonly<Record<string, unknown>> {
  return { condition: { NTPProblem: { status, observedSeconds } } };
}

function upFor(uptimeSeconds: number): Readonly<Record<string, unknown>> {
  return { node: { uptimeSeconds } };
}
