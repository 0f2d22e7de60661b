// Builds dist/, the content of the package: emitted JavaScript and declarations, and every file of src/
// that is not TypeScript (the Go module of the control plane, templates).
import { execFileSync } from 'node:child_process';
import { cpSync, rmSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
rmSync(`${root}dist`, { recursive: true, force: true });
execFileSync(process.execPath, [`${root}node_modules/typescript/bin/tsc`, '-p', 'tsconfig.build.json'], {
  cwd: root,
  stdio: 'inherit',
});
cpSync(`${root}src`, `${root}dist`, {
  recursive: true,
  // The page of the console is bundled: dist/bundles/console.
  filter: (path) =>
    !path.includes('/console/page') && (!/(?<!\.d)\.ts$/.test(path) || path.includes('/templates/')),
});
