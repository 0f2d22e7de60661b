import { condition, type NodeRemedierSpec, node } from 'kubenode/constructs';

/**
 * Keeps new Pods away from a node whose kernel gave up a file system, and hands it off to people. It is never rebooted: with a
 * broken disk it may not come back, and the Pods that still read from it would end.
 */
export const readOnlyFilesystem: NodeRemedierSpec = {
  mode: 'Enforce',
  owner: { team: 'node-sre', runbook: 'docs/runbooks/read-only-filesystem.md' },
  faultClass: 'Disk',
  priority: 650,
  target: { nodeSelector: { all: true }, controlPlane: 'OneAtATime', maxMatchPercent: 5 },
  rule: {
    conditions: condition('ReadonlyFilesystem').is('True', { for: '1m' }),
    // A person who has cordoned the node is at work on it.
    gate: node.unschedulable.is(false),
  },
  ladder: [
    {
      name: 'person',
      plan: [
        { step: 'CollectDiagnostics', timeoutSeconds: 180, onFailure: 'Continue' },
        { step: 'Cordon', timeoutSeconds: 30 },
        { step: 'HandOff', with: { queue: 'node-sre', severity: 'page' } },
      ],
    },
  ],
  tests: [
    {
      name: 'gave up a file system',
      expect: 'Match',
      given: { ...readOnly('True', 90), ...cordoned(false) },
    },
    { name: 'a moment ago', expect: 'NoMatch', given: { ...readOnly('True', 20), ...cordoned(false) } },
    {
      name: 'all are writable',
      expect: 'NoMatch',
      given: { ...readOnly('False', 9000), ...cordoned(false) },
    },
    { name: 'a person is at work', expect: 'Held', given: { ...readOnly('True', 90), ...cordoned(true) } },
    {
      name: 'log unreadable',
      expect: 'NoMatch',
      given: { ...readOnly('Unknown', 90), ...cordoned(false) },
    },
    { name: 'detector silent', expect: 'Indeterminate', given: cordoned(false) },
    { name: 'Node not known', expect: 'Indeterminate', given: readOnly('True', 90) },
  ],
};

function readOnly(
  status: 'True' | 'False' | 'Unknown',
  observedSeconds: number,
): Readonly<Record<string, unknown>> {
  return { condition: { ReadonlyFilesystem: { status, observedSeconds } } };
}

function cordoned(unschedulable: boolean): Readonly<Record<string, unknown>> {
  return { node: { unschedulable } };
}
