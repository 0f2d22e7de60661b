import { describe, expect, it } from 'vitest';
import { makeRunnable } from '../../../src/cli/format/runnable.ts';

describe('commands in hints', () => {
  it.each([
    ['run `kubenode install`, or point --context', 'run `npx kubenode install`, or point --context'],
    ['start a local cluster: kubenode local up', 'start a local cluster: npx kubenode local up'],
    ['start it with kubenode sync --from X', 'start it with npx kubenode sync --from X'],
    ['run kubenode controllers here', 'run npx kubenode controllers here'],
    ['this cluster is not a kubenode hub: kind', 'this cluster is not a kubenode hub: kind'],
    ['already: npx kubenode sync', 'already: npx kubenode sync'],
  ])('FST-4 works where npx printed it: %s', (text, expected) => {
    expect(makeRunnable(text, { npm_command: 'exec' })).toBe(expected);
    expect(makeRunnable(text, {})).toBe(text);
  });
});
