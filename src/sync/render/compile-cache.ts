/**
 * Node's compile cache for the sandboxed process: compiled code of the harness and of the toolchain's packages, which
 * saves a third of the CPU time of a small render. Only a render of the sample below may write it; renders of a repository read it.
 */
import { createHash } from 'node:crypto';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createOwnedFolder, removeOwnedFolder } from '../../os/worker/owned-folder.ts';
import { jobFor } from './protocol.ts';
import { runSandbox, type Sandbox } from './sandbox/sandbox.ts';

// Loads everything that a fleet program loads, and declares one object.
const SAMPLE = `import { Fleet } from 'kubenode/constructs';
import { ApiObject } from 'cdk8s';
const fleet = new Fleet();
const cluster = fleet.cluster('sample', { environment: 'test', connection: { credentialsRef: { name: 'sample' } } });
new ApiObject(cluster.unit('sample'), 'sample', { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'sample' } });
`;

/** The sandbox with its compile cache in this folder, filled if necessary; without one when it cannot be filled. */
export async function withCompileCache(sandbox: Sandbox, folder: string): Promise<Sandbox> {
  try {
    await mkdir(folder, { recursive: true, mode: 0o700 });
    await fill(sandbox, folder);
    return { ...sandbox, compileCache: { folder, writable: false } };
  } catch {
    return sandbox;
  }
}

async function fill(sandbox: Sandbox, folder: string): Promise<void> {
  const { toolchain, isolation } = sandbox;
  // Node keeps one cache per user id, and a namespace has another user id. Its entries are of paths.
  const paths = createHash('sha256').update(toolchain.harness).digest('hex').slice(0, 8);
  const marker = join(folder, `filled-${isolation.names.join('-')}-${paths}`);
  const filledFor = await readFile(marker, 'utf8').catch(() => '');
  if (filledFor === toolchain.digest) return;
  const root = await createOwnedFolder('sample');
  try {
    await writeFile(join(root, 'main.ts'), SAMPLE);
    await runSandbox({ ...sandbox, compileCache: { folder, writable: true } }, jobFor(toolchain, root));
    await writeFile(marker, toolchain.digest);
  } finally {
    await removeOwnedFolder(root);
  }
}
