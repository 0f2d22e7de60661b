// Builds programs as one file each, which need Node.js and nothing else: `node scripts/bundle.ts agent [folder]`.
// A bundle with an npm module is refused: what runs on every node must be ours alone.
import { createHash } from 'node:crypto';
import { chmod, mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { isBuiltin } from 'node:module';
import { join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type OutputChunk, rolldown } from 'rolldown';

const ROOT = fileURLToPath(new URL('..', import.meta.url));

/** The programs by name. */
const ENTRIES: Readonly<Record<string, string>> = {
  agent: 'src/cli/programs/agent.ts',
  kubelet: 'src/cli/programs/kubelet.ts',
};

/** Shorter code with the same names and lines: a stack trace of a node can still be read. */
const SMALLER = { compress: true, mangle: false, codegen: false } as const;

/** `using` and `Promise.withResolvers` need it. */
const MIN_NODE = 24;

export interface Bundle {
  readonly file: string;
  readonly sha256: string;
  readonly sizeBytes: number;
  /** The modules inside, as paths in the repository. */
  readonly modules: readonly string[];
}

export async function buildBundle(name: string, folder: string): Promise<Bundle> {
  const entry = ENTRIES[name];
  if (entry === undefined) throw new Error(`expected one of ${Object.keys(ENTRIES).join(', ')}, got ${name}`);
  return await bundleFile(join(ROOT, entry), join(folder, `${name}.mjs`));
}

export async function bundleFile(entry: string, file: string): Promise<Bundle> {
  const { version } = JSON.parse(await readFile(join(ROOT, 'package.json'), 'utf8')) as { version: string };
  const build = await rolldown({
    input: entry,
    platform: 'node',
    cwd: ROOT,
    external: (id) => isBuiltin(id),
    transform: { target: `node${MIN_NODE}`, define: { KUBENODE_BUNDLE_VERSION: JSON.stringify(version) } },
    plugins: [{ name: 'no-npm-modules', resolveId: refusePackage }],
    onLog: (level, log) => {
      if (level === 'warn') throw new Error(log.message);
    },
  });
  try {
    const banner = `#!/usr/bin/env node\n${CHECK}`;
    const form = { format: 'esm', codeSplitting: false, comments: false, minify: SMALLER } as const;
    // Without an import, this tells Node.js that a file without an extension is a module.
    const { output } = await build.generate({ ...form, banner, footer: 'export {};' });
    return await writeBundle(output[0], file);
  } finally {
    await build.close();
  }
}

const CHECK = `if (Number(process.versions.node.split('.')[0]) < ${MIN_NODE}) {
  process.stderr.write('error: expected Node.js ${MIN_NODE} or later, got ' + process.version + '\\n');
  process.exit(69);
}`;

function refusePackage(id: string, importer: string | undefined): null {
  if (importer === undefined || isBuiltin(id) || /^[./]/.test(id)) return null;
  throw new Error(`the npm module ${id} is not allowed in a bundle: ${relative(ROOT, importer)} imports it`);
}

/**
 * An import of a module of Node.js reads all of its exports, and those of node:http load undici: 10 MiB that none of our programs
 * needs. Taken as objects, modules of Node.js load only what is used.
 */
function takeBuiltins(code: string): string {
  const line = /^import (?:\* as (?<all>\w+)|(?<names>\{[^}]*\})) from "(?<id>node:[^"]+)";$/gm;
  return code.replaceAll(line, (...match) => {
    const { all, names = '', id } = match.at(-1) as { all?: string; names?: string; id: string };
    return `const ${all ?? names.replaceAll(' as ', ': ')} = process.getBuiltinModule("${id}");`;
  });
}

async function writeBundle(chunk: OutputChunk, file: string): Promise<Bundle> {
  const { moduleIds, imports } = chunk;
  const code = takeBuiltins(chunk.code);
  const foreign = imports.filter((id) => !isBuiltin(id));
  if (foreign.length > 0) throw new Error(`the bundle imports ${foreign.join(', ')}`);
  await mkdir(resolve(file, '..'), { recursive: true });
  // Complete when it gets its name: a start that was killed must leave no half program, which the next one would use.
  const temporary = `${file}.${process.pid}.tmp`;
  await writeFile(temporary, code);
  await chmod(temporary, 0o755);
  await rename(temporary, file);
  return {
    file,
    sha256: createHash('sha256').update(code).digest('hex'),
    sizeBytes: Buffer.byteLength(code),
    modules: moduleIds.map((id) => relative(ROOT, id)).toSorted(),
  };
}

if (import.meta.main) {
  const [name = '', folder = join(ROOT, 'dist/bundles')] = process.argv.slice(2);
  const { file, sha256, sizeBytes, modules } = await buildBundle(name, folder);
  process.stdout.write(`${relative(process.cwd(), file)}\n`);
  process.stdout.write(`sha256 ${sha256}, ${sizeBytes} bytes, ${modules.length} modules, no npm module\n`);
}
