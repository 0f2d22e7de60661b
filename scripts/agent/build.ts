// Builds the program of the agent for hosts without Node.js: one executable for each architecture, compressed forms, checksums and a
// manifest: `npm run build:agent [-- folder] [--arch amd64|arm64] [--deb] [--rpm]`.
import { createHash } from 'node:crypto';
import { createReadStream, createWriteStream } from 'node:fs';
import { mkdir, mkdtemp, readFile, rename, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join, relative, resolve } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { createGzip } from 'node:zlib';
import { writeFileAtomic } from '../../src/os/files.ts';
import { buildBundle } from '../bundle.ts';
import { buildDebianPackage } from './deb.ts';
import { AGENT_ARCHES, type AgentArch, buildExecutable } from './executable.ts';
import type { AgentPackage } from './package-files.ts';
import { buildRpmPackage } from './rpm.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

export interface BuiltProgram {
  readonly arch: AgentArch;
  readonly file: string;
  readonly sha256: string;
  readonly sizeBytes: number;
  readonly compressedFile: string;
  readonly compressedSha256: string;
}

/** The content of `programs.json`. Files are names in its folder. */
export interface ProgramsManifest {
  readonly version: string;
  readonly programs: readonly BuiltProgram[];
}

export async function buildAgentPrograms(
  folder: string,
  arches: readonly AgentArch[] = AGENT_ARCHES,
): Promise<ProgramsManifest> {
  await mkdir(folder, { recursive: true });
  const work = await mkdtemp(join(tmpdir(), 'kubenode-build-agent-'));
  try {
    const { file: bundle } = await buildBundle('agent', work);
    const programs: BuiltProgram[] = [];
    for (const arch of arches) programs.push(await buildProgram({ bundle, folder, work, arch }));
    const { version } = JSON.parse(await readFile(join(ROOT, 'package.json'), 'utf8')) as { version: string };
    const manifest = { version, programs };
    await writeFileAtomic(join(folder, 'SHA256SUMS'), formatSums(programs));
    await writeFileAtomic(join(folder, 'programs.json'), `${JSON.stringify(manifest, undefined, 2)}\n`);
    return manifest;
  } finally {
    await rm(work, { recursive: true, force: true });
  }
}

interface ProgramBuild {
  readonly bundle: string;
  readonly folder: string;
  readonly work: string;
  readonly arch: AgentArch;
}

async function buildProgram({ bundle, folder, work, arch }: ProgramBuild): Promise<BuiltProgram> {
  const file = join(folder, `kubenode-agent-linux-${arch}`);
  await buildExecutable({ bundle, file, work, arch });
  const compressed = await compressProgram(file);
  const [program, archive] = [await digestFile(file), await digestFile(compressed)];
  return {
    arch,
    file: basename(file),
    ...program,
    compressedFile: basename(compressed),
    compressedSha256: archive.sha256,
  };
}

/** Returns the compressed program. It is complete when it gets its name: a controller that runs reads it at each import. */
export async function compressProgram(file: string): Promise<string> {
  const [compressed, temporary] = [`${file}.gz`, `${file}.gz.tmp`];
  try {
    await pipeline(createReadStream(file), createGzip(), createWriteStream(temporary, { flush: true }));
    await rename(temporary, compressed);
  } catch (error) {
    await rm(temporary, { force: true });
    throw error;
  }
  return compressed;
}

async function digestFile(file: string): Promise<{ readonly sha256: string; readonly sizeBytes: number }> {
  const hash = createHash('sha256');
  let sizeBytes = 0;
  for await (const chunk of createReadStream(file) as AsyncIterable<Buffer>) {
    hash.update(chunk);
    sizeBytes += chunk.length;
  }
  return { sha256: hash.digest('hex'), sizeBytes };
}

/** Formats the checksums as `sha256sum --check` reads them. */
function formatSums(programs: readonly BuiltProgram[]): string {
  const lines = programs.flatMap(({ file, sha256, compressedFile, compressedSha256 }) => [
    `${sha256}  ${file}`,
    `${compressedSha256}  ${compressedFile}`,
  ]);
  return `${lines.join('\n')}\n`;
}

async function main(): Promise<void> {
  const { values, positionals } = parseArgs({
    options: {
      arch: { type: 'string', multiple: true },
      deb: { type: 'boolean', default: false },
      rpm: { type: 'boolean', default: false },
    },
    allowPositionals: true,
  });
  const arches = AGENT_ARCHES.filter((arch) => values.arch?.includes(arch) ?? true);
  if (arches.length === 0) throw new Error(`--arch: expected one of ${AGENT_ARCHES.join(', ')}`);
  const folder = resolve(positionals[0] ?? join(ROOT, 'dist/agent'));
  const { version, programs } = await buildAgentPrograms(folder, arches);
  for (const { file, sha256, sizeBytes } of programs) {
    process.stdout.write(
      `${relative(process.cwd(), join(folder, file))}\n  sha256 ${sha256}, ${sizeBytes} bytes\n`,
    );
  }
  for (const { arch, file } of programs) {
    const contents: AgentPackage = { program: join(folder, file), folder, version, arch };
    if (values.deb) print(await buildDebianPackage(contents));
    if (values.rpm) print(await buildRpmPackage(contents));
  }
}

function print(file: string): void {
  process.stdout.write(`${relative(process.cwd(), file)}\n`);
}

if (import.meta.main) await main();
