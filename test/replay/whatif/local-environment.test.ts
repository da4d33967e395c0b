import { localEnvironment } from '../../../packages/cli/src/whatif/play-scenario';

test('the environment of a local run leads to nothing of the user', () => {
  const kept = { PATH: '/bin', TEMPORAL_CLI_PATH: '/bin/temporal', TEMPORAL_MEDIA_DEBUG: '1' };
  const dropped = {
    MEDIA_BASE_URL: 'https://service.example',
    MEDIA_API_KEY: 'k',
    TEMPORAL_ADDRESS: 'production:7233',
    TEMPORAL_API_KEY: 'k',
    TEMPORAL_CODEC_ENDPOINT: 'https://codec.example',
    AWS_SECRET_ACCESS_KEY: 'k',
    PGPASSWORD: 'k',
    https_proxy: 'http://proxy.example',
    OTEL_EXPORTER_OTLP_ENDPOINT: 'https://collector.example',
  };
  expect(localEnvironment({ ...kept, ...dropped })).toEqual(kept);
});
