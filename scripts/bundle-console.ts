// Builds the page of the console: `node scripts/bundle-console.ts [folder]`. All of it is in three files, so that the page loads nothing else.
import { copyFile, mkdir, readFile, writeFile } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { rolldown } from 'rolldown';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const PAGE = join(ROOT, 'src/console/page');
const CHART_STYLES = fileURLToPath(import.meta.resolve('uplot/dist/uPlot.min.css'));
/** In the order in which they are read: the tokens first. */
const STYLES = ['tokens.css', 'base.css', 'shell.css', 'parts.css', 'fleet.css', 'pages.css'];

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
    await copyFile(join(PAGE, 'index.html'), join(folder, 'index.html'));
    const styles = await Promise.all(
      [CHART_STYLES, ...STYLES.map((name) => join(PAGE, 'styles', name))].map((path) =>
        readFile(path, 'utf8'),
      ),
    );
    await writeFile(join(folder, 'page.css'), styles.join('\n'));
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
