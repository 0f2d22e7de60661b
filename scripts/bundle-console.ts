// Builds the page of the console: `node scripts/bundle-console.ts [folder]`. All of it is in three files, so that the page loads nothing else.
import { copyFile, mkdir, writeFile } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { rolldown } from 'rolldown';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const PAGE = join(ROOT, 'src/console/page');

/** Returns the size of the script. */
export async function buildConsolePage(folder: string): Promise<number> {
  const build = await rolldown({
    input: join(PAGE, 'main.tsx'),
    platform: 'browser',
    cwd: ROOT,
    // How JSX is compiled is in the tsconfig.json of the page.
    transform: { target: 'es2023' },
    onLog: (level, log) => {
      if (level === 'warn') throw new Error(log.message);
    },
  });
  try {
    const { output } = await build.generate({ format: 'esm', codeSplitting: false, minify: true });
    const { code, imports } = output[0];
    if (imports.length > 0) throw new Error(`the page imports ${imports.join(', ')}`);
    await mkdir(folder, { recursive: true });
    await writeFile(join(folder, 'page.js'), code);
    for (const name of ['index.html', 'page.css']) await copyFile(join(PAGE, name), join(folder, name));
    return Buffer.byteLength(code);
  } finally {
    await build.close();
  }
}

if (import.meta.main) {
  const [folder = join(ROOT, 'dist/bundles/console')] = process.argv.slice(2);
  const sizeBytes = await buildConsolePage(folder);
  process.stdout.write(`${relative(process.cwd(), folder)}: ${sizeBytes} bytes of script\n`);
}
