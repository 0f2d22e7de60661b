// Completes package-lock.json after `npm install`:
// - npm leaves out the packages of other platforms that it could not reach, and `npm ci` then refuses the whole file. They
//   get an entry by name, version and platform; a registry that has them adds their checksums.
// - npm checks the engines of every package against the Node that runs npm, and warns. The project runs on the Node that it
//   brings (the package `node`), so the lock file states only our own engines; test/lock-file.test.ts checks the others.
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const file = fileURLToPath(new URL('../package-lock.json', import.meta.url));
const lock = JSON.parse(readFileSync(file, 'utf8'));
const { packages } = lock;

for (const [path, { optionalDependencies = {}, dev, license }] of Object.entries(packages)) {
  for (const [name, version] of Object.entries(optionalDependencies)) {
    if (packages[`${path}/node_modules/${name}`] || packages[`node_modules/${name}`]) continue;
    packages[`node_modules/${name}`] = {
      version,
      ...platformOf(name),
      ...(dev && { dev }),
      ...(license && { license }),
      optional: true,
    };
  }
}
for (const [path, entry] of Object.entries(packages)) if (path !== '') delete entry.engines;
const sorted = Object.entries(packages).sort(([a], [b]) => (a < b ? -1 : 1));
writeFileSync(file, `${JSON.stringify({ ...lock, packages: Object.fromEntries(sorted) }, undefined, 2)}\n`);

function platformOf(name) {
  const words = /(?<os>android|darwin|freebsd|linux|openharmony|win32)-(?<cpu>[a-z0-9]+)/.exec(name)?.groups;
  if (!words) throw new Error(`the platform of the optional package ${name} cannot be read off its name`);
  const libc = /musl/.test(name) ? ['musl'] : ['glibc'];
  return { cpu: [words.cpu], os: [words.os], ...(words.os === 'linux' && { libc }) };
}
