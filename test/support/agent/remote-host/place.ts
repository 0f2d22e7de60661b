/** Where a node has this checkout and the Node.js that runs it. */
import { fileURLToPath } from 'node:url';

export const SOURCE = '/usr/lib/kubenode';
export const NODE_PROGRAM = '/usr/local/bin/node';

export const AGENT_BINDS = [
  [process.execPath, NODE_PROGRAM],
  [fileURLToPath(new URL('../../../..', import.meta.url)), SOURCE],
] as const;
