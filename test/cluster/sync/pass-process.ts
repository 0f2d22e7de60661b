/** A sync that does one pass and ends, as a process of its own: to be killed. Arguments: kubeconfig, `before` or `after`. */
import { connect } from '../../../src/kube/client/connect.ts';
import { freshSync } from './bed.ts';
import { after, before } from './crash-targets.ts';

const [kubeconfig = '', which] = process.argv.slice(2);
const client = await connect({ kubeconfig });
const bed = await freshSync(client);
await bed.pass(which === 'after' ? after : before);
await bed.close();
await client.close();
