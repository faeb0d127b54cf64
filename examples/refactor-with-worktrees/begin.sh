# Makes the repository of the shop, anew.
set -e
rm -rf out
mkdir -p out/shop/src
cp shop/*.js out/shop/src/
cp workflow.yaml out/shop/
cd out/shop
git init --quiet --initial-branch main
git config user.name 'A shopkeeper'
git config user.email shop@example.com
echo '{ "type": "commonjs" }' > package.json
git add .
git commit --quiet --message 'The shop'
