/** Says when a person's own `npm run synth` may differ from what sync renders: other versions in the lock file. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

// What changes rendered objects. The running kubenode's versions decide; the lock file only informs.
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
  if (locked === undefined) return [`${file} cannot be read: versions were not compared`];
  return COMPARED.flatMap((name) => {
    const [theirs, ours] = [locked[`node_modules/${name}`]?.version, versions[name]];
    if (theirs === undefined || ours === undefined || theirs === ours) return [];
    return [
      `${file} has ${name} ${theirs}, and this kubenode renders with ${ours}: the result may differ from yours`,
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
