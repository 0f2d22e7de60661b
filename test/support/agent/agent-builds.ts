/** Builds of the agent: bundles that work, and bundles with one fault each. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { buildBundle } from '../../../scripts/bundle.ts';
import { AGENT_COMPONENT } from '../../../src/agent/layout.ts';
import type { MachineComponentSpec } from '../../../src/api/generated/types.ts';
import { tempFolder } from '../temp.ts';
import { componentSpec } from './component-spec.ts';

const MEMORY = `setTimeout(() => {
  const all = [];
  setInterval(() => all.length < 20 && all.push(Buffer.alloc(20 * 1024 ** 2, 1)), 50);
}, 500);`;
const UNREACHABLE = `process.getBuiltinModule('node:tls').connect = () => {
  const socket = new (process.getBuiltinModule('node:net').Socket)();
  setTimeout(() => socket.destroy(new Error('unreachable')), 10);
  return socket;
};`;

/** Changes the text of a bundle. */
type Fault = (bundle: string) => string;

export const FAULTS = {
  'ends when it starts': first('process.exit(3);'),
  hangs: first('setInterval(() => {}, 1000); await new Promise(() => {});'),
  'takes too much memory': first(MEMORY),
  'does not find its certificate': (bundle) =>
    replaced(bundle, /(?<=pki|\$\{PKI_DIRECTORY\})\/agent(?=["`])/g, '/other'),
  'cannot reach the API server': first(UNREACHABLE),
} as const satisfies Record<string, Fault>;

/** Before the first statement, behind the line that names the interpreter. */
function first(code: string): Fault {
  return (bundle) => bundle.replace('\n', () => `\n${code}\n`);
}

function replaced(text: string, before: RegExp, after: string): string {
  const result = text.replaceAll(before, () => after);
  if (result === text) throw new Error(`the bundle does not contain ${before}`);
  return result;
}

export interface AgentBuilds {
  /** The program that the host joins with. */
  readonly first: string;
  /** Writes the program of a version. */
  write(version: string, fault?: Fault): string;
}

export async function prepareAgentBuilds(): Promise<AgentBuilds> {
  const folder = tempFolder('agent-builds');
  const { file } = await buildBundle('agent', folder);
  const bundle = readFileSync(file, 'utf8');
  return {
    first: file,
    write(version, fault) {
      const path = join(folder, `agent-${version}`);
      writeFileSync(path, `${fault ? fault(bundle) : bundle}\n// ${version}\n`);
      return path;
    },
  };
}

/** A version of the component that is the agent. */
export function agentComponent(
  version: string,
  source: { readonly url: string; readonly sha256: string },
): MachineComponentSpec {
  const artifact = { os: 'any', arch: 'any', mirrors: [], format: 'Raw', install: [], ...source } as const;
  return componentSpec(version, {
    component: AGENT_COMPONENT,
    artifacts: [artifact],
    files: [],
    units: [],
    commitAfterSeconds: 1,
  });
}
