import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { createProgramLookup } from '../../../../src/local/binaries/binaries.ts';
import { hasGo } from '../../../../src/local/binaries/go-build.ts';
import { resolveBinaries } from '../../../../src/local/binaries/resolve.ts';
import { CONTROL_PLANE_VERSION } from '../../../../src/local/binaries/versions.ts';
import { createSystemClock } from '../../../../src/os/system-clock.ts';
import { LONG } from '../../../support/sweep-size.ts';
import { tempFolder } from '../../../support/temp.ts';

const HOUR_MS = 3_600_000;

// Takes minutes on an idle machine: test/local/binaries/resolve.test.ts covers the same with a fake go.
describe.runIf(LONG && (await hasGo(process.env)))('the control plane built with go', () => {
  it('is built once from our sources for two concurrent calls', {
    timeout: HOUR_MS,
  }, async () => {
    const steps: string[] = [];
    const { KUBEBUILDER_ASSETS: _, GOCACHE: __, GOMODCACHE: ___, ...env } = process.env;
    const cache = tempFolder('cache');
    const options = {
      // Nothing listens there, as without internet access.
      env: { ...env, XDG_CACHE_HOME: cache, KUBENODE_ETCD_DOWNLOADS: 'http://127.0.0.1:1' },
      programs: ['etcd', 'kube-apiserver'] as const,
      clock: createSystemClock(),
      onStep: (step: string) => void steps.push(step),
    };
    const [first, second] = await Promise.all([resolveBinaries(options), resolveBinaries(options)]);
    expect(first.folder).toBe(second.folder);
    expect(
      steps.filter((step) => step.includes('building the same version from its Go modules instead, once')),
    ).toHaveLength(1);
    const version = execFileSync(createProgramLookup(first)('kube-apiserver'), ['--version'], {
      encoding: 'utf8',
    });
    expect(version.trim()).toBe(`Kubernetes ${CONTROL_PLANE_VERSION}`);
    expect(existsSync(join(cache, 'kubenode/go'))).toBe(false);
    expect(readFileSync(createProgramLookup(first)('etcd')).subarray(1, 4).toString()).toBe('ELF');
  });
});
