import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { SOURCE_FOLDER } from '../../../src/local/binaries/source-digest.ts';
import { CONTROL_PLANE_VERSION, ETCD_VERSION } from '../../../src/local/binaries/versions.ts';

describe('the versions', () => {
  const goMod = readFileSync(join(SOURCE_FOLDER, 'go.mod'), 'utf8');

  it.each([
    ['k8s.io/kubernetes', CONTROL_PLANE_VERSION],
    ['go.etcd.io/etcd/server/v3', ETCD_VERSION],
    ['k8s.io/kubectl', CONTROL_PLANE_VERSION.replace('v1', 'v0')],
  ])('are the same for download and build: %s %s', (module, version) => {
    expect(goMod).toMatch(
      new RegExp(`^\\s+${module.replaceAll('.', '\\.')} ${version.replaceAll('.', '\\.')}$`, 'm'),
    );
  });

  it('are the same for all modules of Kubernetes', () => {
    const replaced = [...goMod.matchAll(/=> k8s\.io\/\S+ (\S+)/g)].map(([, version]) => version);
    expect(replaced.length).toBeGreaterThan(20);
    expect(new Set(replaced)).toEqual(new Set([CONTROL_PLANE_VERSION.replace('v1', 'v0')]));
  });
});
