import { all, condition, type NodeRemedierSpec } from 'kubenode/constructs';

const hung = condition('FrequentTaskHung');

/** Reboots a machine whose kernel hangs, and hands off to people if that does not help. Times are shortened for a demonstration. */
export const kernelHang: NodeRemedierSpec = {
  mode: 'Enforce',
  owner: { team: 'demo' },
  faultClass: 'Kernel',
  target: { nodeSelector: { matchLabels: { pool: 'general' } }, maxMatchPercent: 50 },
  rule: { conditions: hung.is('True', { for: '3s' }), clearSeconds: 5 },
  ladder: [
    {
      name: 'reboot',
      plan: [
        { step: 'Cordon', timeoutSeconds: 30 },
        { step: 'Drain', timeoutSeconds: 60 },
        { step: 'Reboot', timeoutSeconds: 60 },
        { step: 'WaitForBoot', timeoutSeconds: 60 },
      ],
      verify: {
        conditions: all(condition('Ready').is('True'), hung.is('False')),
        holdSeconds: 5,
        timeoutSeconds: 60,
      },
      onVerified: [{ step: 'Uncordon' }],
    },
    { name: 'person', plan: [{ step: 'HandOff', with: { queue: 'demo', severity: 'ticket' } }] },
  ],
  tests: [
    { name: 'tasks hang', expect: 'Match', given: hungFor(10) },
    { name: 'for a moment', expect: 'NoMatch', given: hungFor(1) },
    { name: 'no word from the detector', expect: 'Indeterminate', given: {} },
  ],
};

function hungFor(observedSeconds: number): Readonly<Record<string, unknown>> {
  return { condition: { FrequentTaskHung: { status: 'True', observedSeconds } } };
}
