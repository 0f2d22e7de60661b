/** A process that syncs once and ends; a test kills it. Arguments: kubeconfig, `before` or `after`. */
import { connect } from '../../../src/kube/client/connect.ts';
import { after, before } from './crash-targets.ts';
import { startTestSync } from './target-cluster.ts';

const [kubeconfig = '', which] = process.argv.slice(2);
const client = await connect({ kubeconfig });
const sync = await startTestSync(client);
await sync.sync(which === 'after' ? after : before);
await sync.close();
await client.close();
