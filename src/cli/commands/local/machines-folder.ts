/** Where the instances of a local cluster are. */
import { join } from 'node:path';
import { createLayout } from '../../../local/layout.ts';

export function machinesFolder(dir: string, cluster: string): string {
  return join(createLayout(dir).cluster(cluster).folder, 'machines');
}
