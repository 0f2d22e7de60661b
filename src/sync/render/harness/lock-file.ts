/** Warns when a local `npm run synth` may differ from what sync renders, because the lock file has other versions. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

// The packages that affect rendered objects. Renders use the versions of the running kubenode whatever the lock file has.
const COMPARED = ['kubenode', 'cdk8s', 'constructs', 'cdk8s-plus-27'];

export function lockWarnings(
  root: string,
  path: string,
  versions: Readonly<Record<string, string>>,
): string[] {
  const file = [join(path, 'package-lock.json'), 'package-lock.json'].find((name) =>
    existsSync(join(root, name)),
  );
  if (file === undefined) return [];
  const locked = lockedVersions(readFileSync(join(root, file), 'utf8'));
  if (locked === undefined) return [`${file} is not valid JSON: its versions were not compared`];
  return COMPARED.flatMap((name) => {
    const [lockedVersion, version] = [locked[`node_modules/${name}`]?.version, versions[name]];
    if (lockedVersion === undefined || version === undefined || lockedVersion === version) return [];
    return [
      `${file} has ${name} ${lockedVersion}, but this kubenode renders with ${version}: a local synth may differ`,
    ];
  });
}

function lockedVersions(text: string): Record<string, { version?: string }> | undefined {
  try {
    return (JSON.parse(text) as { packages?: Record<string, { version?: string }> }).packages ?? {};
  } catch {
    return undefined;
  }
}
