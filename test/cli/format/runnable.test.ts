import { execFileSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import { makeRunnable, shellWord } from '../../../src/cli/format/runnable.ts';

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

describe('shellWord', () => {
  it.each(['/tmp/demo', '../a+b@c', "/tmp/my demo's", '$HOME', 'a;b', '', '~', 'ü'])(
    'is one word for sh: %s',
    (path) => {
      const script = `printf '%s\\n' ${shellWord(path)}`;
      expect(execFileSync('sh', ['-c', script], { encoding: 'utf8' })).toBe(`${path}\n`);
    },
  );

  it('leaves a usual path as it is', () => {
    expect(shellWord('/tmp/demo-1.0')).toBe('/tmp/demo-1.0');
  });
});
