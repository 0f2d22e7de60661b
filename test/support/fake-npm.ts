/** A folder for PATH with an npm that packs an empty tarball and writes an empty lock file, or fails to. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { tempFolder } from './temp.ts';

/** With a text, `npm install` prints it to stderr and fails. */
export function fakeNpm(installError = ''): string {
  const folder = tempFolder('npm');
  const install =
    installError === '' ? 'echo "{}" > package-lock.json' : `echo '${installError}' >&2; exit 1`;
  const script = `#!/bin/sh
case "$1" in
  pack) for folder; do :; done; echo "$@" > "$folder/kubenode-9.9.9.tgz" ;;
  install) ${install} ;;
  env) echo "$npm_command|$npm_config_registry" ;;
esac
`;
  writeFileSync(join(folder, 'npm'), script, { mode: 0o755 });
  return folder;
}
