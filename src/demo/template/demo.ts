/** The files of the demo fleet that depend on this computer: where its Node.js is, and the stand-in kubelet. */
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { KUBELET_BUNDLE, readKubeletBundle } from '../../cli/local/kubelet-bundle.ts';
import type { StepProgress } from '../../cli/progress.ts';
import { CONTROL_PLANE_VERSION } from '../../local/binaries/versions.ts';
import { standInComponent } from '../../local/kubelet/manifests.ts';
import { PACKAGE_ROOT } from './scaffold.ts';

const run = promisify(execFile);

const ARTIFACT = 'artifacts/kubelet.mjs';
/** An update from the first to the last is one minor version. */
const KUBERNETES_VERSIONS = ['1.35.0', CONTROL_PLANE_VERSION.slice(1)];

/** For a demonstration. */
const SHORTENED = { probe: { periodSeconds: 2 }, commitAfterSeconds: 3 };

/** Maps each path to its content. `folder`: of the new repository; agents read the artifact there. */
export async function demoFiles(
  folder: string,
  bundle: URL = KUBELET_BUNDLE,
): Promise<ReadonlyMap<string, string>> {
  const { text, sha256 } = await readKubeletBundle(bundle);
  const url = pathToFileURL(join(folder, ARTIFACT)).href;
  const artifact = { url, sha256, nodeFolder: dirname(process.execPath) };
  const kubelets = KUBERNETES_VERSIONS.map((version) => {
    const { spec } = standInComponent(version, artifact);
    const probes = spec.probes?.map((probe) => ({ ...probe, ...SHORTENED.probe }));
    return { ...spec, version, probes, commitAfterSeconds: SHORTENED.commitAfterSeconds };
  });
  const local = { node: process.execPath, kubelets };
  return new Map([
    [ARTIFACT, text],
    ['fleet/local.json', `${JSON.stringify(local, undefined, 2)}\n`],
  ]);
}

/** The package contains them; a checkout builds them once. */
export async function buildPrograms(progress: StepProgress): Promise<void> {
  await buildPage(progress);
  if (existsSync(KUBELET_BUNDLE)) return;
  for (const name of ['agent', 'kubelet']) {
    progress.step(`building the ${name} of the machines`);
    await run(process.execPath, [join(PACKAGE_ROOT, 'scripts/bundle.ts'), name], { cwd: PACKAGE_ROOT });
  }
}

/** In a checkout always, because it takes less than a second: the page is then never older than its server. */
async function buildPage(progress: StepProgress): Promise<void> {
  const script = join(PACKAGE_ROOT, 'scripts/bundle-console.ts');
  if (!existsSync(script)) return;
  progress.step('building the page of the console');
  await run(process.execPath, [script], { cwd: PACKAGE_ROOT });
}
