/** A fleet repository of a few files, as a folder or as a commit, and a renderer with limits short enough for tests. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { JUDGE_PROGRAM } from '../../src/cli/programs/judge-path.ts';
import { createBackend } from '../../src/sync/git/backend.ts';
import { createGitTransport } from '../../src/sync/git/repository.ts';
import type { GitTransport } from '../../src/sync/git/transport.ts';
import { createRenderer, type Renderer, type RendererOptions } from '../../src/sync/render/renderer.ts';
import type { RenderLimits } from '../../src/sync/render/sandbox/sandbox.ts';
import { createTestRepository, type TestRepository } from './git-server/repository.ts';
import { tempFolder } from './temp.ts';

export type Files = Readonly<Record<string, string>>;

/** Long enough for a busy machine: tests of the limits set their own. */
const TEST_LIMITS: Partial<RenderLimits> = { timeoutMs: 120_000, cpuSeconds: 120 };

// Under node_modules, so that all test files and all runs share it.
const COMPILE_CACHE = join(import.meta.dirname, '../../node_modules/.cache/kubenode-renders');

export function createTestRenderer(options: RendererOptions = {}): Renderer {
  return createRenderer({
    compileCache: COMPILE_CACHE,
    judge: { program: JUDGE_PROGRAM },
    ...options,
    limits: { ...TEST_LIMITS, ...options.limits },
  });
}

export function createFleetFolder(files: Files): string {
  const folder = tempFolder('fleet');
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  }
  return folder;
}

export interface FleetRepository extends TestRepository {
  readonly transport: GitTransport;
}

export function createFleetRepository(): FleetRepository {
  const folder = tempFolder('fleet');
  const repository = createTestRepository(folder);
  const options = { repository: `file://${repository.bare}`, folder: join(folder, 'cache') };
  const transport = createGitTransport(createBackend(options));
  return { ...repository, transport };
}

/** A program that declares one ConfigMap in the cluster `test`; `body` runs before, `data` is its content. */
export function program(body = '', data = '{}'): string {
  return `import { Fleet } from 'kubenode/constructs';
import { ApiObject } from 'cdk8s';
const fleet = new Fleet();
${body}
new ApiObject(fleet.cluster('test', { environment: 'test', connection: { credentialsRef: { name: 'test' } } }).unit('web'), 'settings', {
  apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'settings', namespace: 'default' }, data: ${data},
} as never);
fleet.synth();
`;
}
