import { describe, expect, it } from 'vitest';
import { packageUnit, packageVersion } from '../../../scripts/agent/package-files.ts';

describe('packageUnit', () => {
  it('takes the Machine and further options from the config file', () => {
    const unit = packageUnit();
    expect(unit).toContain(
      '\nEnvironmentFile=/etc/kubenode/agent.env\nExecStart=/var/lib/kubenode/agent/program run ',
    );
    expect(unit).toMatch(
      / run --machine \$\{KUBENODE_MACHINE\} --host systemd --port 0 \$KUBENODE_AGENT_FLAGS\n/,
    );
  });
});

describe('packageVersion', () => {
  it.each([
    ['1.2.3', '1.2.3'],
    ['1.2.3-rc.1', '1.2.3~rc.1'],
    ['1.2.3-rc-1+build', '1.2.3~rc~1+build'],
  ])('turns %s into %s', (version, expected) => {
    expect(packageVersion(version)).toBe(expected);
  });
});
